import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { findImages, pinImages } from './pin-images.ts';

const compose = readFileSync('docker-compose.yml', 'utf8');

it('the Compose file of a release builds nothing, and has a version or a digest for each image', () => {
  const digests = new Map(findImages(compose).map((name) => [name, `sha256:${'0'.repeat(64)}`]));
  expect([...digests.keys()]).toContain('nats:2.12-alpine');
  const pinned = pinImages(compose, '1.2.0', digests);
  expect(pinned).not.toMatch(/^ *(?:build|dockerfile):/m);
  const { services } = parse(pinned, { merge: true, maxAliasCount: -1 }) as {
    services: Record<string, { image: string }>;
  };
  const images = new Set(Object.values(services).map(({ image }) => image));
  expect(images).toContain('${RTR_IMAGE:-model-router:1.2.0}');
  expect([...images].filter((image) => !/:1\.2\.0\}$|@sha256:0{64}\}$/.test(image))).toEqual([]);
});

it('an image whose digest is unknown keeps its tag', () => {
  expect(pinImages(compose, '1.2.0', new Map())).toContain('${NATS_IMAGE:-nats:2.12-alpine}');
});

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';
import { translations } from '#shared/translate/translations.ts';
import { namedFormats } from './helpers/named-formats.ts';
import { mayImport } from './may-import.ts';
import { readSource, type Source } from './helpers/read-source.ts';

const root = join(import.meta.dirname, '..');
const sources = new Map<string, Source>(
  globSync('{services,shared}/**/*.{ts,tsx,mjs}', { cwd: root }).map((file) => [file, readSource(join(root, file))]),
);

/** A service may import every part of shared. */
const everyService = Object.keys(mayImport);

/** Packages that belong to one corner of the project. */
const homes: Record<string, readonly string[]> = {
  express: ['services/ingress', 'services/console'],
  '@nats-io/': ['shared/broker'],
  '@opentelemetry/': ['shared/core'],
  'prom-client': [
    'shared/core',
    'shared/files',
    'shared/worker',
    'services/ingress',
    'services/batch-runner',
    'services/cli-worker',
    'services/tools-worker',
  ],
  ioredis: ['shared/store', 'shared/accounts'],
  bullmq: ['shared/background'],
  nodemailer: ['services/batch-runner'],
  '@aws-sdk/': ['shared/files'],
};

/** Besides each service's config.ts and main.ts: what runs before there is a service, and what hands the environment to one. */
const mayReadEnvironment = [
  /^services\/[^/]+\/(config|main)\.ts$/,
  /^services\/rtr\/bootstrap\//,
  /^services\/rtr\/bootstrap\.mjs$/,
  /^services\/rtr\/client\/lib\/environment\.mjs$/,
  /^shared\/core\/run-service\.ts$/,
];

/** The console's pages cannot import the formats: they have a file for each of their own. */
const webFormats = 'services/console/web/formats';

describe('the architecture', () => {
  it('has imports that go one way: services to shared, shared to shared/core', () => {
    const wrong = imports().filter(({ from, to }) => {
      const [home, other] = [partOf(from), partOf(to)];
      if (home === other) return false;
      // The command line is a client of the console's API.
      if (home === 'services/rtr' && to.startsWith('services/console/contract/')) return false;
      // A main.ts may mount or start another service.
      if (other.startsWith('services/')) return !(home.startsWith('services/') && from.endsWith('/main.ts'));
      return !(mayImport[home] ?? everyService).includes(other);
    });
    expect(wrong).toEqual([]);
  });

  it('keeps each infrastructure package in its corner', () => {
    const wrong = [...sources].flatMap(([file, { imports }]) =>
      Object.entries(homes)
        .filter(
          ([name, corners]) =>
            imports.some((to) => to.startsWith(name)) && !corners.some((corner) => file.startsWith(`${corner}/`)),
        )
        .map(([name]) => `${file} imports ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('reads the environment only where a service is configured', () => {
    const wrong = [...sources]
      .filter(
        ([file, { readsEnvironment }]) => readsEnvironment && !mayReadEnvironment.some((place) => place.test(file)),
      )
      .map(([file]) => file);
    expect(wrong).toEqual([]);
  });

  it('serves paths as they are written alone', () => {
    const serving = [...sources]
      .filter(([, { imports: packages }]) => packages.includes('express'))
      .map(([file]) => file);
    expect(serving.length).toBeGreaterThan(10);
    const tolerant = /\bRouter\((?!\{ caseSensitive: true)/;
    expect(serving.filter((file) => tolerant.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });

  it('has no cycles of imports, those of types included', () => {
    expect(findCycle()).toBeUndefined();
  });

  it('decides nothing by the name of a wire format outside of the format', () => {
    const names = new Set([...clientFormats, ...translations.map(({ upstream }) => upstream)].map(({ name }) => name));
    const isHome = (file: string): boolean =>
      [...names].some((name) => file.startsWith(`shared/formats/${name}/`) || file === `${webFormats}/${name}.ts`) ||
      file.startsWith('shared/translate/');
    const files = [...sources.keys()].filter((file) => !isHome(file));
    expect(files.length).toBeGreaterThan(300);
    expect(files.flatMap((file) => namedFormats(file, names))).toEqual([]);
    expect(globSync('test/docs/**/*.ts').flatMap((file) => namedFormats(file, names))).toEqual([]);
  });

  it('sees where something is decided by a name', () => {
    // Which this file does, so that the test above cannot pass by seeing nothing.
    const decide = (format: string): boolean => format === 'chat' || format === toolsFormat.name;
    expect(decide('chat')).toBe(true);
    expect(namedFormats('test/architecture.test.ts', new Set(['chat']))).not.toEqual([]);
  });

  it('knows only parts that exist', () => {
    const parts = new Set([...sources.keys()].map(partOf));
    const known = [...Object.keys(mayImport), ...Object.values(mayImport).flat(), ...Object.values(homes).flat()];
    expect(known.filter((part) => !parts.has(part))).toEqual([]);
  });

  it('never imports from the tests, and only files that exist', () => {
    expect(imports().filter(({ to }) => !sources.has(to))).toEqual([]);
  });

  it('has all its files in parts that this test knows', () => {
    const parts = new Set([...sources.keys()].map(partOf));
    expect([...parts].filter((part) => part.startsWith('shared/') && !(part in mayImport))).toEqual([]);
    expect(sources.size).toBeGreaterThan(50);
  });
});

/** Every import of one file of the project by another, data aside. */
function imports(): { from: string; to: string }[] {
  return [...sources].flatMap(([from, source]) =>
    source.imports.flatMap((written) => {
      if (/\.(?:json|css)$/.test(written)) return [];
      if (/^#(?:services|shared)\//.test(written)) return { from, to: written.slice(1) };
      return written.startsWith('.') ? { from, to: normalize(join(dirname(from), written)) } : [];
    }),
  );
}

function partOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** The first chain of imports that comes back to where it began. */
function findCycle(): string[] | undefined {
  const next = Map.groupBy(imports(), ({ from }) => from);
  const finished = new Set<string>();
  const visit = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return undefined;
    for (const { to } of next.get(file) ?? []) {
      const cycle = visit(to, [...path, file]);
      if (cycle) return cycle;
    }
    finished.add(file);
    return undefined;
  };
  for (const file of sources.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}

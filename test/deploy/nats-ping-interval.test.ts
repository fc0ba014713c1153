import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

// With NATS' default of two minutes, an ingress whose host vanished stays a subscriber for up to six.
it.each([
  'deploy/nats.conf',
  'deploy/compose/prepare.ts',
  'deploy/kubernetes/servers/nats.yaml',
  'services/rtr/up/servers/start-nats-server.ts',
])('%s has NATS notice a vanished peer within half a minute', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  expect(text).toMatch(/\bping_interval: "?10s/);
  expect(text).toMatch(/\bping_max: 2\b/);
});

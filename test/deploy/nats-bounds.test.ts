import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

// With NATS' defaults, one connection may have any number of subscriptions, and a server 65,536 connections.
it.each(['deploy/nats.conf', 'deploy/compose/prepare.ts', 'deploy/kubernetes/servers/nats.yaml'])(
  '%s bounds the connections and their subscriptions',
  (file) => {
    const text = readFileSync(join(root, file), 'utf8');
    expect(text).toMatch(/\bmax_connections: \d+/);
    expect(text).toMatch(/\bmax_subscriptions: \d+/);
  },
);

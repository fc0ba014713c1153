import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const files = [
  'deploy/nats.conf',
  'deploy/compose/prepare.ts',
  'deploy/kubernetes/servers/nats.yaml',
  'services/rtr/up/servers/start-nats-server.ts',
];

// With NATS' defaults, one connection may have any number of subscriptions, and a server 65,536 connections.
it.each(files)('%s bounds the connections and their subscriptions', (file) => {
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/\bmax_connections: \d+/);
  expect(text).toMatch(/\bmax_subscriptions: \d+/);
});

// With NATS' default of two minutes, an ingress whose host vanished stays a subscriber for up to six.
it.each(files)('%s has NATS notice a vanished peer soon', (file) => {
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/\bping_interval: "?10s/);
  expect(text).toMatch(/\bping_max: 2\b/);
});

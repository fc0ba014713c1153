import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterAddresses } from '#services/rtr/up/cluster-addresses.ts';
import { loadClusterState, saveClusterState } from '#services/rtr/up/cluster-state.ts';
import { UpError } from '#services/rtr/up/up-error.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rtr-addresses-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the addresses of the cluster', () => {
  it('come from the settings, and a worker needs only that of NATS', () => {
    const natsUrl = 'nats://gpu:secret@router.example:4222';
    const settings = { NATS_URL: natsUrl, REDIS_URL: undefined };
    expect(clusterAddresses(settings, folder, ['NATS_URL'])).toEqual({ NATS_URL: natsUrl });
  });

  it('otherwise come from the cluster that runs in the folder', () => {
    const state = { ...loadClusterState(folder), ports: { nats: 4555, redis: 6555 } };
    saveClusterState(folder, state);
    expect(clusterAddresses({ NATS_URL: undefined, REDIS_URL: undefined }, folder, ['NATS_URL', 'REDIS_URL'])).toEqual({
      NATS_URL: `nats://rtr:${state.natsPassword}@127.0.0.1:4555`,
      REDIS_URL: expect.stringContaining('@127.0.0.1:6555'),
    });
  });

  it('are named in the error when neither has them', () => {
    const none = { NATS_URL: undefined, REDIS_URL: undefined };
    expect(() => clusterAddresses(none, folder, ['NATS_URL', 'REDIS_URL'])).toThrow(
      new UpError('There is no cluster here: set NATS_URL and REDIS_URL, or start one with npm start.'),
    );
    const half = { NATS_URL: 'nats://127.0.0.1', REDIS_URL: undefined };
    expect(() => clusterAddresses(half, folder, ['NATS_URL', 'REDIS_URL'])).toThrow('set REDIS_URL, or');
  });
});

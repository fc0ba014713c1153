import { findOwnCommand } from '#services/rtr/client/lib/own-command.mjs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findClusterAddresses, isSameRouter, findOwnRouter } from '#services/rtr/up/cluster-addresses.ts';
import { loadClusterState, saveClusterState } from '#services/rtr/up/cluster-state.ts';
import { UpError } from '#services/rtr/up/up-error.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

const none = { NATS_URL: undefined, REDIS_URL: undefined };
let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

describe('the addresses of the cluster', () => {
  it('come from the settings, and a worker needs only that of NATS', () => {
    const natsUrl = 'nats://gpu:secret@router.example:4222';
    const settings = { NATS_URL: natsUrl, REDIS_URL: undefined };
    expect(findClusterAddresses(settings, folder, ['NATS_URL'], 'gpu')).toEqual({ NATS_URL: natsUrl });
    const NATS_CREDENTIALS = 'joes-box.creds';
    expect(findClusterAddresses({ ...settings, NATS_CREDENTIALS }, folder, ['NATS_URL'], 'gpu')).toEqual({
      NATS_URL: natsUrl,
      NATS_CREDENTIALS,
    });
  });

  it('otherwise come from the cluster that runs in the folder, with its credential for the role', () => {
    const state = { ...loadClusterState(folder), ports: { nats: 4555, natsWebSocket: 4556, redis: 6555 } };
    saveClusterState(folder, state);
    const found = {
      NATS_URL: 'nats://127.0.0.1:4555',
      REDIS_URL: expect.stringContaining('@127.0.0.1:6555'),
      NATS_CREDENTIALS: join(folder, 'credentials/runner.creds'),
    };
    expect(findClusterAddresses(none, folder, ['NATS_URL', 'REDIS_URL'], 'runner')).toEqual(found);
    const NATS_CREDENTIALS = 'joes-box.creds';
    expect(findClusterAddresses({ ...none, NATS_CREDENTIALS }, folder, ['NATS_URL'], 'gpu')).toMatchObject({
      NATS_CREDENTIALS,
    });
    const elsewhere = { ...none, NATS_URL: 'nats://10.0.0.7' };
    expect(findClusterAddresses(elsewhere, folder, ['NATS_URL'], 'gpu')).toEqual({ NATS_URL: 'nats://10.0.0.7' });
  });

  it('contain the password of NATS while an earlier release runs the cluster', () => {
    const state = { ...loadClusterState(folder), ports: { nats: 4555, redis: 6555 } };
    saveClusterState(folder, state);
    expect(findClusterAddresses(none, folder, ['NATS_URL'], 'gpu')).toEqual({
      NATS_URL: `nats://rtr:${state.natsPassword}@127.0.0.1:4555`,
    });
  });

  it('are named in the error when neither has them', () => {
    const error = new UpError(
      `There is no cluster here: set NATS_URL and REDIS_URL, or start one with ${findOwnCommand()} up.`,
    );
    expect(() => findClusterAddresses(none, folder, ['NATS_URL', 'REDIS_URL'], 'ingress')).toThrow(error);
    const half = { NATS_URL: 'nats://127.0.0.1', REDIS_URL: undefined };
    expect(() => findClusterAddresses(half, folder, ['NATS_URL', 'REDIS_URL'], 'ingress')).toThrow('set REDIS_URL, or');
  });
});

describe('the router of this machine', () => {
  it("is at the address of the cluster's start in the folder, unless the settings name another", () => {
    expect(findOwnRouter({}, folder)).toEqual({ url: 'http://127.0.0.1:8484', publicUrl: 'http://127.0.0.1:8484' });
    const router = { host: '0.0.0.0', port: 8620, publicUrl: 'https://llm.example.com' };
    saveClusterState(folder, { ...loadClusterState(folder), router });
    expect(findOwnRouter({}, folder)).toEqual({ url: 'http://127.0.0.1:8620', publicUrl: router.publicUrl });
    const moved = 'http://127.0.0.1:8700';
    expect(findOwnRouter({ PORT: 8700 }, folder)).toEqual({ url: moved, publicUrl: moved });
    expect(findOwnRouter({ HOST: '10.0.0.5' }, folder).url).toBe('http://10.0.0.5:8620');
    expect(findOwnRouter({ PUBLIC_URL: 'https://other.example' }, folder).publicUrl).toBe('https://other.example');
  });

  it('is the same at each name of the loopback interface, and with the path of an API', () => {
    const url = 'http://127.0.0.1:8484';
    for (const same of ['http://localhost:8484/', 'http://[::1]:8484/api/openai/v1', 'http://127.0.0.2:8484'])
      expect(isSameRouter(same, url)).toBe(true);
    for (const other of ['http://127.0.0.1:8485', 'https://127.0.0.1:8484'])
      expect(isSameRouter(other, url)).toBe(false);
    for (const host of ['10.0.0.5', 'localhost.example']) expect(isSameRouter(`http://${host}:8484`, url)).toBe(false);
  });
});

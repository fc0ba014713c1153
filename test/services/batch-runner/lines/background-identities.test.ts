import { describe, expect, it } from 'vitest';
import { BackgroundIdentities } from '#services/batch-runner/lines/background-identities.ts';
import { createKey, createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import type { KeyRecord } from '#shared/accounts/keys/key-record.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin, openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { openRunningBatch } from '../../../helpers/batches/open-batch.ts';

const trainer = { name: 'trainer', class: 'normal', models: ['qwen3-8b'], limits: {} } as const;
const issuers = [{ rules: [{ match: [['sub', ['any']]], serviceAccount: trainer }] }] as const;

/** Creates a personal key, and the identities of the batch runner. */
async function start() {
  const open = await openKeyStore();
  const { store, accounts } = open;
  const { id: ownerId } = await makeAdmin(open);
  const own = made(await createOwnedKey(store, { kind: 'user', ownerId, class: 'normal', name: 'mine' }));
  const identitiesOf = (keys: Pick<KeyStore, 'find'>) =>
    new BackgroundIdentities({ ...accounts, keys, issuers: () => issuers, class: 'low' });
  // The old key has been expired for a second, because the clock of a machine may go back a little.
  const rotated = async (old: KeyRecord): Promise<KeyRecord> =>
    made(await rotateKey(store, old, { createdBy: ownerId, overlapMs: -1_000 })).record;
  return { ...open, key: own.record, ownerId, rotated, identitiesOf, identities: identitiesOf(store) };
}

describe('the identity of a batch', () => {
  it('is that of the last successor of a rotated key, until that successor is revoked', async () => {
    const { store, key, rotated, identities } = await start();
    expect((await identities.find(key.id))?.id).toBe(key.id);
    const last = await rotated(await rotated(key));
    identities.markStale();
    expect((await identities.find(key.id))?.id).toBe(last.id);
    await store.revoke(last.id, Date.now());
    identities.markStale();
    expect(await identities.find(key.id)).toBeUndefined();
  });

  it('has the class of the runner, within the ceiling of its owner', async () => {
    const { store, accounts, key } = await start();
    const parts = { ...accounts, keys: store, issuers: () => issuers };
    const classOf = async (runner: PriorityClass | undefined) =>
      (await new BackgroundIdentities({ ...parts, class: runner }).find(key.id))?.class;
    const classes = () => Promise.all([classOf(undefined), classOf('high'), classOf('low')]);
    expect(await classes()).toEqual(['normal', 'high', 'low']);
    await accounts.users.change(key.ownerId ?? '', { ceiling: { maxClass: 'normal' } }, 1);
    expect(await classes()).toEqual(['normal', 'normal', 'low']);
  });

  it('of an issued key is that of its successor only if the successor stores for the same owner', async () => {
    const { store, key, identities } = await start();
    const { ownerId = '' } = key;
    const succeeded = async (issuedBy: string | undefined) => {
      const settings = { kind: 'user', ownerId, class: 'normal', name: 'issued', issuedBy: 'ada' } as const;
      const { record } = made(await createOwnedKey(store, settings));
      await rotateKey(store, record, { createdBy: 'ada', issuedBy, overlapMs: -1_000 });
      return { id: record.id, identity: await identities.find(record.id) };
    };
    const own = await succeeded(undefined);
    expect(own.identity).toMatchObject({ ownerId, storesAs: own.id });
    expect(own.identity?.id).not.toBe(own.id);
    expect((await succeeded('ada')).identity).toBeUndefined();
  });

  it('does not exist for a key that was revoked after it was rotated', async () => {
    const { store, key, rotated, identities } = await start();
    await rotated(key);
    await store.revoke(key.id, Date.now());
    expect(await identities.find(key.id)).toBeUndefined();
  });

  it('does not exist for a rotated key without an owner, whose batches belong to the key itself', async () => {
    const { store, rotated, identities } = await start();
    const { record } = await createKey(store, { kind: 'router', name: 'one', class: 'normal' });
    await rotated(record);
    expect(await identities.find(record.id)).toBeUndefined();
  });

  it('is that of a workload: of a team while it exists, of a service account as the rules grant it', async () => {
    const { accounts, identities } = await start();
    const team = await accounts.teams.create('Research');
    expect(await identities.find(`team:${team.id}`)).toMatchObject({ kind: 'team', ownerId: team.id, class: 'low' });
    await accounts.deleteTeam(team.id);
    identities.markStale();
    expect(await identities.find(`team:${team.id}`)).toBeUndefined();
    const granted = { name: 'trainer', models: ['qwen3-8b'], class: 'low' };
    expect(await identities.find('service:trainer')).toMatchObject(granted);
    expect(await identities.find('service:other')).toBeUndefined();
  });

  it('does not exist for a person whom a provider has refused, unless they have a password', async () => {
    const { accounts, redis, prefix, ownerId, identities } = await start();
    await accounts.users.refuse(ownerId);
    expect(await identities.find(`session:${ownerId}`)).toBeUndefined();
    await redis.hset(`${prefix}user:${ownerId}`, 'passwordHash', 'some');
    identities.markStale();
    expect(await identities.find(`session:${ownerId}`)).toMatchObject({ ownerId });
  });

  it('is read again if the key changes while it is read', async () => {
    const { store, key, identitiesOf } = await start();
    const [read, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const identities = identitiesOf({
      find: async (id) => {
        const found = await store.find(id);
        read.resolve();
        await goOn.promise;
        return found;
      },
    });
    const first = identities.find(key.id);
    await read.promise;
    await store.revoke(key.id, Date.now());
    identities.markStale();
    goOn.resolve();
    await first;
    expect(await identities.find(key.id)).toBeUndefined();
  });
});

it('a slice whose key may not be used any more ends at once, cancelled, with its results so far', async () => {
  const { identities } = await start();
  const { run, found } = await openRunningBatch();
  await run({ identities });
  expect(await found()).toMatchObject({ slicesLeft: 0, errored: 0, cancelled: 2, succeeded: 0 });
});

import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterSecret } from '#shared/accounts/secrets/cluster-secret.ts';
import { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import { openKeyStore, type OpenKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { openThroughProxy } from '../../../helpers/accounts/open-through-proxy.ts';
import { until } from '../../../helpers/until.ts';

function secretOf({ connection, prefix }: OpenKeyStore, set?: readonly Buffer[]): ClusterSecret {
  const secret = new ClusterSecret(connection.redis, prefix, set);
  onTestFinished(() => secret.close());
  return secret;
}

describe('the secret of a cluster', () => {
  it('is made once, although many nodes start on an empty store at the same time', async () => {
    const open = await openKeyStore();
    const others = await Promise.all(Array.from({ length: 5 }, () => openKeyStore(undefined, open.prefix)));
    const secrets = [open, ...others].map((each) => secretOf(each));
    await until(() => secrets.every((each) => each.secrets.length === 1));
    expect(new Set(secrets.map((each) => each.secrets[0]?.toString('hex'))).size).toBe(1);
    expect(secrets[0]?.secrets[0]).toHaveLength(32);
  });

  it('is not in Redis where the operator sets one', async () => {
    const open = await openKeyStore();
    const set = [randomBytes(32), randomBytes(32)];
    expect(secretOf(open, set).secrets).toEqual(set);
    expect(await open.redis.keys(`${open.prefix}*`)).toEqual([]);
  });

  it('becomes known when Redis, away at the start, answers, and goes back into a store that was emptied', async () => {
    const { proxy, behind, direct } = await openThroughProxy();
    proxy.cut();
    await until(() => behind.redis.status !== 'ready');
    const secret = secretOf(behind);
    const keys = new OwnerKeys(() => secret.secrets);
    expect(keys.ofGrant('owner')).toBeUndefined();
    expect(keys.storeSealer('owner')).toBeUndefined();
    proxy.resume();
    await until(() => keys.ofGrant('owner') !== undefined);
    const [known] = secret.secrets;
    await direct.redis.del(`${direct.prefix}cluster-secret`);
    const other = secretOf(direct);
    await until(() => other.secrets.length === 1);
    // Whichever was first, both nodes come to have the same.
    await until(() => secret.secrets[0]?.equals(other.secrets[0] ?? Buffer.alloc(0)) === true);
    expect(known).toHaveLength(32);
  });

  it('goes on opening what it has sealed after another node has put its own into Redis, four secrets at most', async () => {
    const open = await openKeyStore();
    const secret = secretOf(open);
    await until(() => secret.secrets.length === 1);
    const keys = new OwnerKeys(() => secret.secrets);
    const before = keys.storeSealer('owner')?.seal('text') ?? '';
    const puts = Array.from({ length: 4 }, () => randomBytes(32));
    const other = await openKeyStore(undefined, open.prefix);
    for (const [at, put] of puts.entries()) {
      await other.connection.redis.set(`${open.prefix}cluster-secret`, put.toString('base64url'));
      // A node looks as soon as it is connected again.
      open.redis.disconnect(true);
      await until(() => secret.secrets[0]?.equals(put) === true);
      const isKnown = at < 3;
      expect(keys.storeSealer('owner')?.unseal(before)).toBe(isKnown ? 'text' : undefined);
      const after = keys.storeSealer('owner')?.seal('text') ?? '';
      expect(new OwnerKeys(() => [put]).storeSealer('owner')?.unseal(after)).toBe('text');
    }
    expect(secret.secrets).toEqual(puts.toReversed());
  });
});

describe('the keys of an owner', () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];

  it('are the same on every node, differ by owner and purpose, and do not contain the secret', () => {
    const [here, there] = [new OwnerKeys(() => [first]), new OwnerKeys(() => [first])];
    expect(here.ofGrant('a')).toBe(there.ofGrant('a'));
    expect(here.ofGrant('a')).not.toBe(here.ofGrant('b'));
    expect(here.ofGrant('a')).not.toContain(first.toString('base64url'));
    const sealed = here.storeSealer('a')?.seal('text') ?? '';
    expect(there.storeSealer('a')?.unseal(sealed)).toBe('text');
    expect(here.storeSealer('b')?.unseal(sealed)).toBeUndefined();
  });

  it('open what an older secret of the list has sealed, and seal with the newest', () => {
    const before = new OwnerKeys(() => [first]).storeSealer('a')?.seal('text') ?? '';
    const rotated = new OwnerKeys(() => [second, first]);
    expect(rotated.storeSealer('a')?.unseal(before)).toBe('text');
    const after = rotated.storeSealer('a')?.seal('text') ?? '';
    expect(new OwnerKeys(() => [second]).storeSealer('a')?.unseal(after)).toBe('text');
    expect(new OwnerKeys(() => [second]).storeSealer('a')?.unseal(before)).toBeUndefined();
  });
});

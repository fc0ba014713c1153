import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { RefreshTokens } from '#shared/accounts/sign-in/programs/refresh-token.ts';
import { ClusterSecret } from '#shared/store/secrets/cluster-secret.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { parseSecrets } from '#shared/store/secrets/parse-secrets.ts';
import { openKeyStore, type OpenKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { openThroughProxy } from '../../../helpers/accounts/open-through-proxy.ts';
import { until } from '../../../helpers/until.ts';

function secretOf({ connection, prefix }: OpenKeyStore, set?: readonly Buffer[]): ClusterSecret {
  const secret = new ClusterSecret(connection.redis, prefix, set);
  onTestFinished(() => secret.close());
  return secret;
}

it('the secret of a cluster is made once, although many nodes start on an empty store at the same time', async () => {
  const open = await openKeyStore();
  const others = await Promise.all(Array.from({ length: 5 }, () => openKeyStore(undefined, open.prefix)));
  const secrets = [open, ...others].map((each) => secretOf(each));
  await until(() => secrets.every((each) => each.secrets.length === 1));
  expect(new Set(secrets.map((each) => each.secrets[0]?.toString('hex'))).size).toBe(1);
  expect(secrets[0]?.secrets[0]).toHaveLength(32);
});

it('the secret of a cluster is not in Redis where the operator sets one', async () => {
  const open = await openKeyStore();
  const set = [randomBytes(32), randomBytes(32)];
  expect(secretOf(open, set).secrets).toEqual(set);
  expect(await open.redis.keys(`${open.prefix}*`)).toEqual([]);
});

it('the secret of a cluster becomes known when Redis, away at the start, answers, and goes back into a store that was emptied', async () => {
  const { proxy, behind, direct } = await openThroughProxy();
  proxy.cut();
  await until(() => behind.redis.status !== 'ready');
  const secret = secretOf(behind);
  const keys = new OwnerKeys(() => secret.secrets);
  expect(keys.deriveGrantKeys('owner')).toBeUndefined();
  expect(() => keys.storeSealer('owner')).toThrow('is not known yet');
  proxy.resume();
  await until(() => keys.deriveGrantKeys('owner') !== undefined);
  const [known] = secret.secrets;
  await direct.redis.del(`${direct.prefix}cluster-secret`);
  const other = secretOf(direct);
  await until(() => other.secrets.length === 1);
  // Whichever was first, both nodes come to have the same.
  await until(() => secret.secrets[0]?.equals(other.secrets[0] ?? Buffer.alloc(0)) === true);
  expect(known).toHaveLength(32);
});

it('the secret of a cluster goes on opening what it has sealed after another node has put its own into Redis, four secrets at most', async () => {
  const open = await openKeyStore();
  const secret = secretOf(open);
  await until(() => secret.secrets.length === 1);
  const keys = new OwnerKeys(() => secret.secrets);
  const before = keys.storeSealer('owner').seal('text');
  const puts = Array.from({ length: 4 }, () => randomBytes(32));
  const other = await openKeyStore(undefined, open.prefix);
  for (const [at, put] of puts.entries()) {
    await other.connection.redis.set(`${open.prefix}cluster-secret`, put.toString('base64url'));
    // A node looks as soon as it is connected again.
    open.redis.disconnect(true);
    await until(() => secret.secrets[0]?.equals(put) === true);
    const isKnown = at < 3;
    expect(keys.storeSealer('owner').unseal(before)).toBe(isKnown ? 'text' : undefined);
    const after = keys.storeSealer('owner').seal('text');
    expect(new OwnerKeys(() => [put]).storeSealer('owner').unseal(after)).toBe('text');
  }
  expect(secret.secrets).toEqual(puts.toReversed());
});

const [first, second] = [randomBytes(32), randomBytes(32)];

it('the keys of an owner are the same on every node, differ by owner, secret and purpose, and do not contain the secret', () => {
  const [here, there, elsewhere] = [first, first, second].map((secret) => new OwnerKeys(() => [secret]));
  expect(here?.deriveGrantKeys('a')).toBe(there?.deriveGrantKeys('a'));
  expect(here?.deriveGrantKeys('a')).not.toBe(here?.deriveGrantKeys('b'));
  expect(here?.deriveGrantKeys('a')).not.toContain(first.toString('base64url'));
  const sealed = here?.storeSealer('a').seal('text') ?? '';
  expect(there?.storeSealer('a').unseal(sealed)).toBe('text');
  for (const sealer of [here?.storeSealer('b'), elsewhere?.storeSealer('a')])
    expect(sealer?.unseal(sealed)).toBeUndefined();
});

it('the secrets that an operator sets are 32 bytes as hex or in either alphabet of base64, newest first', () => {
  const text = `${first.toString('hex')}, ${second.toString('base64')},${second.toString('base64url')}`;
  expect(parseSecrets(text)).toEqual([first, second, second]);
  expect(parseSecrets(first.toString('hex').toUpperCase())).toEqual([first]);
});

it('the secrets that an operator sets are passphrases of 32 characters or more, each a secret of its own', () => {
  const [long, longer] = ['correct horse battery staple and', 'correct horse battery staple and so on'];
  const [a, b] = parseSecrets(`${long},${longer}`) ?? [];
  expect([a?.length, b?.length]).toEqual([32, 32]);
  expect(a).not.toEqual(b);
  expect(parseSecrets(long)).toEqual([a]);
});

it.each(['', ' ', 'too short', first.toString('hex').slice(0, 30), `${first.toString('hex')},`, 'short,short'])(
  'the secrets that an operator sets are refused together when one of them is too short: %j',
  (text) => {
    expect(parseSecrets(text)).toBeUndefined();
  },
);

it('a change of the secret of the cluster in three steps lets each node read what one in the same step, or one next to it, writes', () => {
  const [old, next] = [first, second];
  // In the order in which docs/operations.md changes them.
  const nodes = [[old], [old, next], [next, old], [next]].map((secrets) => ({
    tokens: new RefreshTokens(() => secrets),
    sealer: new OwnerKeys(() => secrets).storeSealer('owner'),
  }));
  const token = { programId: '0123456789ab', generation: 3 };
  for (const [at, reader] of nodes.entries()) {
    for (const writer of nodes.slice(Math.max(0, at - 1), at + 2)) {
      expect(reader.tokens.read(writer.tokens.write(token) ?? '')).toEqual(token);
      expect(reader.sealer.unseal(writer.sealer.seal('text'))).toBe('text');
    }
  }
});

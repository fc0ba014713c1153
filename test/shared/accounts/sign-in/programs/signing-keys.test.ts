import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SigningKeys } from '#shared/accounts/sign-in/programs/signing-keys.ts';
import { useKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { passTime } from '../../../../helpers/pass-time.ts';

const open = useKeyStore();

describe('the keys of access tokens', () => {
  it('are made and replaced once, by whichever node is the first', async () => {
    const nodes = Array.from({ length: 5 }, () => keysOf());
    const idsNow = () => Promise.all(nodes.map(async (keys) => (await keys.ensureCurrent()).id));
    const first = new Set(await idsNow());
    passTime(30 * 86_400_000);
    const second = new Set(await idsNow());
    expect([first.size, second.size, new Set([...first, ...second]).size]).toEqual([1, 1, 2]);
  });

  it('are made and replaced for signing, and not for verifying', async () => {
    expect(await keysOf().find('unknown')).toBeUndefined();
    expect(await storedKeys()).toEqual({});
    const { id } = await keysOf().ensureCurrent();
    passTime(30 * 86_400_000);
    expect((await keysOf().find(id))?.id).toBe(id);
    expect(Object.keys(await storedKeys())).toEqual([id]);
  });

  it('are read although the store has other entries beside them', async () => {
    const odd = { broken: '{', list: '[]', text: '"text"', nothing: 'null', 'no time': '{"createdAt":"now"}' };
    await open.redis.hset(`${open.prefix}signing-keys`, odd);
    const { id } = await keysOf().ensureCurrent();
    expect((await keysOf().ensureCurrent()).id).toBe(id);
    expect((await keysOf().find(id))?.id).toBe(id);
    expect(await storedKeys()).toMatchObject(odd);
  });

  it('are known to all nodes in each step of a change of the secret', async () => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const steps = [[old], [old, next], [next, old]].map(keysOf);
    const [first, second, third] = await Promise.all(steps.map((keys) => keys.ensureCurrent()));
    expect([second?.id, third?.id]).toEqual([first?.id, first?.id]);
    // By when the old one is removed, the key that it has sealed was replaced.
    passTime(30 * 86_400_000);
    const current = await keysOf([next, old]).ensureCurrent();
    expect((await keysOf([next]).ensureCurrent()).id).toBe(current.id);
  });

  it('are replaced after thirty days; the previous one verifies for another hour', async () => {
    const node = keysOf();
    const first = await node.ensureCurrent();
    passTime(30 * 86_400_000);
    const second = await node.ensureCurrent();
    expect(second.id).not.toBe(first.id);
    const other = keysOf();
    for (const { id } of [first, second]) expect((await other.find(id))?.id).toBe(id);
    passTime(3_600_000);
    await node.ensureCurrent();
    expect(await keysOf().find(first.id)).toBeUndefined();
    expect((await keysOf().find(second.id))?.id).toBe(second.id);
  });

  it('are sealed: a node with another secret has a key of its own, and one with both has both', async () => {
    const [one, other] = [randomBytes(32), randomBytes(32)];
    const first = await keysOf([one]).ensureCurrent();
    const second = await keysOf([other]).ensureCurrent();
    expect(second.id).not.toBe(first.id);
    expect((await keysOf([other, one]).find(first.id))?.id).toBe(first.id);
    expect(JSON.stringify(await storedKeys())).not.toContain('PRIVATE KEY');
  });
});

const secret = randomBytes(32);

function storedKeys(): Promise<Record<string, string>> {
  return open.redis.hgetall(`${open.prefix}signing-keys`);
}

function keysOf(secrets: readonly Uint8Array[] = [secret]): SigningKeys {
  return new SigningKeys(open.redis, open.prefix, () => secrets);
}

import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { SecondFactorStore } from '#shared/accounts/sign-in/second-factor/second-factor-store.ts';
import { softwarePasskey } from '../../../../helpers/console/software-passkey.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';

const secret = 'JBSWY3DPEHPK3PXP';
const userId = randomUUID();

async function openStore() {
  const { redis, prefix } = await openKeyStore();
  const secrets = (): readonly Uint8Array[] => [Buffer.alloc(32)];
  const store = new SecondFactorStore(redis, prefix, { keys: new OwnerKeys(secrets), secrets });
  return { store, names: () => redis.hkeys(`${prefix}second-factor:${userId}`) };
}

const { passkey } = softwarePasskey('https://llm.example.com');

it('a use of a passkey is stored', async () => {
  const { store } = await openStore();
  await store.storePasskey(userId, passkey);
  expect(await store.notePasskeyUse(userId, { ...passkey, counter: 7 })).toBe(true);
  expect((await store.find(userId)).passkeys).toEqual([{ ...passkey, counter: 7 }]);
});

it.each(['removed', 'reset'])(
  'a use of a passkey is not stored if the passkey was %s meanwhile, and restores nothing',
  async (how) => {
    const { store, names } = await openStore();
    for (const id of [passkey.id, 'other']) await store.storePasskey(userId, { ...passkey, id });
    if (how === 'reset') await store.reset(userId);
    else await store.remove(userId, `passkey:${passkey.id}`);
    expect(await store.notePasskeyUse(userId, { ...passkey, counter: 7 })).toBe(false);
    expect(await names()).toEqual(how === 'reset' ? [] : ['passkey:other']);
  },
);

it('a code of an app that was removed meanwhile counts for nothing, and leaves nothing', async () => {
  const { store, names } = await openStore();
  await store.storeTotp(userId, secret);
  expect(await store.useCode(userId, 1)).toBe(true);
  await store.storePasskey(userId, passkey);
  await store.remove(userId, 'totp');
  expect(await store.useCode(userId, 2)).toBe(false);
  await store.reset(userId);
  expect(await store.useCode(userId, 3)).toBe(false);
  expect(await names()).toEqual([]);
});

it('a passkey that is stored while the last factor is removed stays', async () => {
  const { store, names } = await openStore();
  for (let round = 0; round < 20; round += 1) {
    await store.storeTotp(userId, secret);
    await store.makeRecoveryCodes(userId);
    await Promise.all([store.remove(userId, 'totp'), later(round % 4, () => store.storePasskey(userId, passkey))]);
    expect(await names()).toContain(`passkey:${passkey.id}`);
    await store.reset(userId);
  }
});

/** Calls a function after some turns of the event loop. */
async function later<T>(turns: number, act: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
  return act();
}

it('recovery codes replace the earlier ones, and leave factors alone', async () => {
  const { store, names } = await openStore();
  await store.storeTotp(userId, secret);
  await store.storePasskey(userId, passkey);
  const [before = ''] = (await store.makeRecoveryCodes(userId)) ?? [];
  const after = (await store.makeRecoveryCodes(userId)) ?? [];
  expect(after).toHaveLength(10);
  expect((await names()).filter((name) => name.startsWith('recovery:'))).toHaveLength(10);
  expect(await store.takeRecoveryCode(userId, before)).toBe(false);
  expect(await store.takeRecoveryCode(userId, after[0] ?? '')).toBe(true);
  expect(await store.find(userId)).toMatchObject({ totp: secret, passkeys: [passkey], recoveryCodesLeft: 9 });
});

it('recovery codes are not made where there is no second factor any more', async () => {
  const { store, names } = await openStore();
  await store.storeTotp(userId, secret);
  await store.remove(userId, 'totp');
  expect(await store.makeRecoveryCodes(userId)).toBeUndefined();
  expect(await names()).toEqual([]);
});

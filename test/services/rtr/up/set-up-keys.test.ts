import { beforeEach, describe, expect, inject, it } from 'vitest';
import { setUpKeys } from '#services/rtr/up/set-up-keys.ts';
import { openKeyStore, type OpenKeyStore } from '../../../helpers/accounts/open-key-store.ts';

let open: OpenKeyStore;
let said: string[];

beforeEach(async () => {
  open = await openKeyStore();
  said = [];
});

describe('the first start of a cluster', () => {
  it('prints the new key, and a later start prints none', async () => {
    const first = await setUp();
    expect(said).toEqual([`Your router key: ${first.newKey}`]);
    expect(await setUp()).toMatchObject({ newKey: undefined, maskedKeys: first.maskedKeys });
    expect(said).toHaveLength(1);
  });

  it('creates a new link for the first administrator each time, until there is one', async () => {
    const { links } = open.accounts;
    const [old, token] = [(await setUp()).adminToken ?? '', (await setUp()).adminToken ?? ''];
    expect(await links.find(old)).toBeUndefined();
    expect(await links.find(token)).toEqual({ kind: 'first-admin' });
    await links.createFirstAdmin(token, { name: 'Ada', email: 'ada@example.com', passwordHash: '' });
    expect(await setUp()).toMatchObject({ adminToken: undefined });
  });
});

function setUp() {
  return setUpKeys(inject('redisUrl'), open.prefix.replace(/:$/, ''), (line) => said.push(line));
}

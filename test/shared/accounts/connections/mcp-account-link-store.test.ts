import { describe, expect, it } from 'vitest';
import { McpAccountLinkStore, type NewMcpAccountLink } from '#shared/accounts/connections/mcp-account-link-store.ts';
import { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin, openKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const facts = { url: 'https://notes.test/mcp', connectedAt: 1, refreshedAt: 1, canRefresh: true };
const connection = (token: string): NewMcpAccountLink => ({ ...facts, secrets: { token } });

async function openStore() {
  const open = await openKeyStore();
  const { redis } = open;
  const keys = new OwnerKeys(() => [Buffer.alloc(32, 1)]);
  const store = new McpAccountLinkStore(redis, open.prefix, { keys, report: open.noteUnreadable });
  const { id: person } = await makeAdmin(open);
  await store.keep(person, 'notes', connection('first'));
  const name = `${open.prefix}connections-of:${person}`;
  return { ...open, store, person, name };
}

describe('an MCP account link', () => {
  it('is refreshed by one process at a time, and keeps the result', async () => {
    const { store, person } = await openStore();
    const before = made(await store.find(person, 'notes'));
    const holder = (await store.beginRefresh(person, 'notes')) ?? '';
    expect(await store.beginRefresh(person, 'notes')).toBeUndefined();
    // A process that did not begin the refresh cannot end it for others.
    await store.endRefresh(person, 'notes', before, 'somebody else', undefined);
    expect(await store.beginRefresh(person, 'notes')).toBeUndefined();
    await store.endRefresh(person, 'notes', before, holder, connection('second'));
    expect(store.openSecrets(person, 'notes', made(await store.find(person, 'notes')))).toEqual({ token: 'second' });
    expect(await store.beginRefresh(person, 'notes')).toBeDefined();
  });

  it('that is removed or replaced during its refresh does not come back', async () => {
    const { store, person } = await openStore();
    const before = made(await store.find(person, 'notes'));
    const holder = (await store.beginRefresh(person, 'notes')) ?? '';
    await store.keep(person, 'notes', connection('of another account'));
    await store.endRefresh(person, 'notes', before, holder, connection('second'));
    const after = made(await store.find(person, 'notes'));
    expect(store.openSecrets(person, 'notes', after)).toEqual({ token: 'of another account' });
    const again = (await store.beginRefresh(person, 'notes')) ?? '';
    expect(await store.remove(person, 'notes')).toBe(true);
    await store.endRefresh(person, 'notes', after, again, connection('third'));
    expect(await store.find(person, 'notes')).toBeUndefined();
  });

  it('is not stored for a person who is blocked or deleted', async () => {
    const { store, redis, prefix } = await openStore();
    expect(await store.keep('nobody', 'notes', connection('a'))).toBe(false);
    await redis.hset(`${prefix}user:blocked`, { id: 'blocked', blockedAt: 1 });
    expect(await store.keep('blocked', 'notes', connection('a'))).toBe(false);
    expect(await store.list('blocked')).toEqual(new Map());
  });

  it('of one person or server cannot be used as that of another', async () => {
    const { store, redis, person, name, prefix } = await openStore();
    const text = (await redis.hget(name, 'notes')) ?? '';
    expect(text).not.toContain('first');
    await redis.hset(name, 'mail', text);
    await redis.hset(`${prefix}connections-of:other`, 'notes', text);
    const secretsOf = async (of: string, server: string) =>
      store.openSecrets(of, server, made(await store.find(of, server)));
    expect([await secretsOf(person, 'mail'), await secretsOf('other', 'notes')]).toEqual([undefined, undefined]);
    expect(await secretsOf(person, 'notes')).toEqual({ token: 'first' });
  });

  it('that this release cannot read is reported, and the others stay usable', async () => {
    const { store, redis, person, name, unreadable } = await openStore();
    await redis.hset(name, 'mail', '{"of":"another release"}');
    expect([...(await store.list(person)).keys()]).toEqual(['notes']);
    expect(unreadable).toEqual([expect.stringContaining(`connection ${person} mail`)]);
  });
});

import { expect, it } from 'vitest';
import { McpAccountLinkStore, type NewMcpAccountLink } from '#shared/accounts/connections/mcp-account-link-store.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin, openKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const facts = { url: 'https://notes.test/mcp', connectedAt: 1, refreshedAt: 1, canRefresh: true };
const connection = (token: string): NewMcpAccountLink => ({ ...facts, secrets: { token } });

async function openStore() {
  const open = await openKeyStore();
  const keys = new OwnerKeys(() => [Buffer.alloc(32, 1)]);
  const store = new McpAccountLinkStore(open.redis, open.prefix, { keys, report: open.noteUnreadable });
  const { id: person } = await makeAdmin(open);
  await store.keep(person, 'notes', connection('first'));
  const find = async (of = person, server = 'notes') => made(await store.find(of, server));
  const secrets = async (of = person, server = 'notes') => store.openSecrets(of, server, await find(of, server));
  const begin = () => store.beginRefresh(person, 'notes');
  return { ...open, store, person, name: `${open.prefix}connections-of:${person}`, find, secrets, begin };
}

it('an MCP account link is refreshed by one process at a time, and keeps the result', async () => {
  const { store, person, find, secrets, begin } = await openStore();
  const before = await find();
  const holder = (await begin()) ?? '';
  expect(await begin()).toBeUndefined();
  // A process that did not begin the refresh cannot end it for others.
  await store.endRefresh(person, 'notes', 'somebody else');
  expect(await begin()).toBeUndefined();
  await store.endRefresh(person, 'notes', holder, { oldLink: before, newLink: connection('second') });
  expect(await secrets()).toEqual({ token: 'second' });
  expect(await begin()).toBeDefined();
});

it('an MCP account link that is removed or replaced during its refresh does not come back', async () => {
  const { store, person, find, secrets, begin } = await openStore();
  const before = await find();
  const holder = (await begin()) ?? '';
  await store.keep(person, 'notes', connection('of another account'));
  await store.endRefresh(person, 'notes', holder, { oldLink: before, newLink: connection('second') });
  const after = await find();
  expect(await secrets()).toEqual({ token: 'of another account' });
  const again = (await begin()) ?? '';
  expect(await store.remove(person, 'notes')).toBe(true);
  await store.endRefresh(person, 'notes', again, { oldLink: after, newLink: connection('third') });
  expect(await store.find(person, 'notes')).toBeUndefined();
});

it('an MCP account link is not stored for a person who is blocked or deleted', async () => {
  const { store, redis, prefix } = await openStore();
  expect(await store.keep('nobody', 'notes', connection('a'))).toBe(false);
  await redis.hset(`${prefix}user:blocked`, { id: 'blocked', blockedAt: 1 });
  expect(await store.keep('blocked', 'notes', connection('a'))).toBe(false);
  expect(await store.list('blocked')).toEqual(new Map());
});

it('an MCP account link of one person or server cannot be used as that of another', async () => {
  const { secrets, redis, person, name, prefix } = await openStore();
  const text = (await redis.hget(name, 'notes')) ?? '';
  expect(text).not.toContain('first');
  await redis.hset(name, 'mail', text);
  await redis.hset(`${prefix}connections-of:other`, 'notes', text);
  expect([await secrets(person, 'mail'), await secrets('other')]).toEqual([undefined, undefined]);
  expect(await secrets()).toEqual({ token: 'first' });
});

it('an MCP account link that this release cannot read is reported, and the others stay usable', async () => {
  const { store, redis, person, name, unreadable } = await openStore();
  await redis.hset(name, 'mail', '{"of":"another release"}');
  expect([...(await store.list(person)).keys()]).toEqual(['notes']);
  expect(unreadable).toEqual([expect.stringContaining(`connection ${person} mail`)]);
});

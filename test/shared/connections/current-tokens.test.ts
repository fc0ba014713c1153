import { expect, it, onTestFinished } from 'vitest';
import { McpAccountLinkStore } from '#shared/accounts/connections/mcp-account-link-store.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { CurrentTokens } from '#shared/connections/current-tokens.ts';
import { makeAdmin, openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { serveHttp } from '../../helpers/servers/serve-http.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { until } from '../../helpers/until.ts';

const url = 'https://notes.test/mcp';

/** A person with a link whose token has expired, and an authorization server that accepts each refresh token once. */
async function start(onRefreshed: () => void | Promise<void> = () => undefined) {
  const open = await openKeyStore();
  const { id: person } = await makeAdmin(open);
  let serial = 1;
  const authorization = await serveHttp(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const isCurrent = new URLSearchParams(body).get('refresh_token') === `refresh ${serial}`;
    if (isCurrent) serial += 1;
    const tokens = { access_token: `access ${serial}`, refresh_token: `refresh ${serial}`, token_type: 'bearer' };
    response.writeHead(isCurrent ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isCurrent ? { ...tokens, expires_in: 3_600 } : { error: 'invalid_grant' }));
  });
  onTestFinished(() => authorization.stop());
  const metadata = {
    issuer: authorization.url,
    authorization_endpoint: `${authorization.url}/auth`,
    token_endpoint: `${authorization.url}/token`,
    response_types_supported: ['code'],
  };
  const grantor = { metadata, client: { client_id: 'any' }, resource: url, redirectUrl: 'https://llm.test' };
  const keys = new OwnerKeys(() => [Buffer.alloc(32, 1)]);
  const store = new McpAccountLinkStore(open.redis, open.prefix, { keys, report: open.noteUnreadable });
  const secrets = { grantor, access: 'access 1', refresh: 'refresh 1' };
  const link = { url, connectedAt: 1, refreshedAt: 1, expiresAt: 2, canRefresh: true, secrets };
  await store.keep(person, 'notes', link);
  const tokens = new CurrentTokens({
    store,
    log: silentLog,
    fetch: async (address, init) => {
      const answer = await fetch(address, init);
      await onRefreshed();
      return answer;
    },
  });
  return { ...open, store, link, tokens, person, lock: `${open.prefix}connection-refresh:${person}:notes` };
}

it('a refreshed connection is stored although Redis is unavailable when the authorization server answers', async () => {
  const cut = { redis: () => undefined as void };
  const { tokens, store, person, redis, lock } = await start(() => cut.redis());
  cut.redis = () => redis.disconnect(true);
  expect(await tokens.get(person, 'notes', url)).toEqual({ token: 'access 2' });
  cut.redis = () => undefined;
  await until(async () => redis.status === 'ready' && (await redis.exists(lock)) === 0);
  const stored = await store.find(person, 'notes');
  expect(stored && store.openSecrets(person, 'notes', stored)).toMatchObject({ refresh: 'refresh 2' });
  expect(await tokens.get(person, 'notes', url, 'access 2')).toEqual({ token: 'access 3' });
});

it('a connection that is removed before its refresh begins leaves no lock behind', async () => {
  const { tokens, store, link, person, redis, lock } = await start();
  const begin = store.beginRefresh.bind(store);
  store.beginRefresh = async (...names) => {
    await store.remove(person, 'notes');
    return begin(...names);
  };
  expect(await tokens.get(person, 'notes', url)).toBe('none');
  expect(await redis.exists(lock)).toBe(0);
  store.beginRefresh = begin;
  await store.keep(person, 'notes', link);
  expect(await tokens.get(person, 'notes', url)).toEqual({ token: 'access 2' });
});

/** Opens a link whose refresh waits until the test lets it go on. */
async function startHeld(onRefreshed: () => void = () => undefined) {
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const started = await start(async () => {
    reached.resolve();
    await held.promise;
    onRefreshed();
  });
  return { ...started, reached: reached.promise, goOn: () => held.resolve() };
}

it('closing waits until a refresh that runs is stored, because the authorization server may accept only the new refresh token', async () => {
  const { tokens, store, person, reached, goOn } = await startHeld();
  const got = tokens.get(person, 'notes', url);
  await reached;
  const closed = tokens.close();
  goOn();
  await closed;
  const stored = await store.find(person, 'notes');
  expect(stored && store.openSecrets(person, 'notes', stored)).toMatchObject({ refresh: 'refresh 2' });
  expect(await got).toEqual({ token: 'access 2' });
});

it('a token that the server refuses during its refresh is not returned, although the refresh fails', async () => {
  const { tokens, store, link, person, reached, goOn } = await startHeld(() => {
    throw new Error('The authorization server is away.');
  });
  const now = Date.now();
  await store.keep(person, 'notes', { ...link, refreshedAt: now - 3_600_000, expiresAt: now + 30_000 });
  const first = tokens.get(person, 'notes', url);
  await reached;
  const refused = tokens.get(person, 'notes', url, 'access 1');
  // The second call has joined the refresh once its reads of the store are answered.
  await store.find(person, 'notes');
  goOn();
  for (const got of [first, refused]) await expect(got).rejects.toMatchObject({ code: 'upstream_failed' });
});

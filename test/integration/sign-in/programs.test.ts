import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { ProgramStore } from '#shared/accounts/sign-in/programs/program-store.ts';
import { accountNames } from '#shared/store/redis/account-names.ts';
import { toAddressGroup } from '#shared/accounts/sign-in/address-groups.ts';
import { newAdministrator, newEmail } from '../../helpers/console/new-administrator.ts';
import { inviteToConsole } from '../../helpers/console/open-as.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { deviceGrant, postForm, refresh, signInProgram } from '../../helpers/clients/device-flow.ts';
import { statusWith } from '../../helpers/clients/status-with.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const wellKnown = '/.well-known/oauth-authorization-server';

let ada: ConsoleClient;
let adaId: string;
let adaEmail: string;

const cluster = useCluster();
const other = useStarted(() => cluster.otherIngress());
beforeAll(async () => {
  ({ client: ada, id: adaId, email: adaEmail } = await newAdministrator(cluster));
});

function ask(url: string, key: string): Promise<Response> {
  const body = { model: 'auto', max_tokens: 20, messages: [{ role: 'user', content: 'Hello!' }] };
  return post({ url, key, path: '/anthropic/v1/messages?beta=true', body });
}

const statuses = (token: string) => Promise.all([cluster.url, other.url].map((url) => statusWith(url, token)));

/** Begins the sign-in of a program. */
const beginDevice = (url = cluster.url, fields = {}) => postForm(`${url}/oauth/device_authorization`, fields);
const revoke = (token: string) => postForm(`${other.url}/oauth/revoke`, { token });
const unauthorized = { status: 401, body: { error: 'invalid_grant' } };

describe('a program', () => {
  it('finds the endpoints below the router and below each API, all of the same origin', async () => {
    for (const base of ['', '/api/anthropic', '/api/openai']) {
      const answer = await fetch(`${cluster.url}${base}${wellKnown}`);
      const issuer = `${cluster.url}${base}`;
      expect(await answer.json()).toMatchObject({
        issuer,
        device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
        token_endpoint: `${issuer}/oauth/token`,
        revocation_endpoint: `${issuer}/oauth/revoke`,
        grant_types_supported: [deviceGrant, 'refresh_token'],
        gateway_protocol_version: 1,
        model_router_apis: { openai: `${cluster.url}/api/openai`, anthropic: `${cluster.url}/api/anthropic` },
      });
      const start = await beginDevice(issuer);
      expect(start).toMatchObject({ status: 200, body: { expires_in: 600, interval: 2 } });
      expect(start.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('finds the endpoints of an API also where RFC 8414 has them, before its path', async () => {
    for (const api of ['/api/anthropic', '/api/openai']) {
      const [below, before] = await Promise.all(
        [`${api}${wellKnown}`, `${wellKnown}${api}`].map(async (path) => (await fetch(`${cluster.url}${path}`)).text()),
      );
      expect(JSON.parse(before ?? '')).toEqual(JSON.parse(below ?? ''));
    }
    expect((await fetch(`${cluster.url}${wellKnown}/api/nobody`)).status).toBe(404);
  });

  it('is signed in once a person approves it, on any ingress, and its requests are those of the person', async () => {
    const start = await beginDevice(cluster.url, { client_id: 'Claude Code' });
    const { user_code: code, device_code: deviceCode, verification_uri_complete: page } = start.body;
    expect(page).toBe(`${cluster.url}/device?code=${code}`);
    const poll = () => postForm(`${other.url}/oauth/token`, { grant_type: deviceGrant, device_code: deviceCode });
    expect(await poll()).toMatchObject({ status: 400, body: { error: 'authorization_pending' } });
    const program = { client: 'Claude Code', address: '127.0.0.1' };
    expect((await ada.post(`/devices/${code}/find`)).body).toMatchObject(program);
    expect((await ada.post(`/devices/${code}`, { decision: 'approve' })).status).toBe(204);
    const { status, body } = await poll();
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 900, email: adaEmail });
    for (const url of [cluster.url, other.url]) expect((await ask(url, body.access_token)).status).toBe(200);
    const mine = async () => (await readUsage(cluster.prefix)).filter(({ owner }) => owner?.id === adaId);
    await until(async () => (await mine()).length === 2);
    expect((await mine())[0]).toMatchObject({ key: { id: `session:${adaId}`, name: 'Ada' }, owner: { kind: 'user' } });
    expect((await ada.get('/programs')).body).toMatchObject([program]);
    const approval = { action: 'program.approve', details: { client: 'Claude Code' } };
    expect((await ada.get('/audit')).body.data[0]).toMatchObject(approval);
  });

  it('may use the account of a team of its person, which is billed', async () => {
    const { body: team } = await ada.post('/teams', { name: uniqueName('Research') });
    await ada.put(`/teams/${team.id}/members/${adaId}`, { role: 'member' });
    const { accessToken } = await signInProgram(cluster.url, ada, team.id);
    expect((await ask(other.url, accessToken)).status).toBe(200);
    await until(async () => (await readUsage(cluster.prefix)).some(({ owner }) => owner?.id === team.id));
    await ada.delete(`/teams/${team.id}/members/${adaId}`);
    await untilRefused(accessToken);
    const start = await beginDevice();
    const wanted = { decision: 'approve', teamId: team.id };
    expect((await ada.post(`/devices/${start.body.user_code}`, wanted)).status).toBe(404);
  });

  /** Waits until every ingress has the announcement that a token is over, which is valid for 15 minutes by itself. */
  const untilRefused = (token: string) =>
    until(async () => (await statuses(token)).every((status) => status === 401), 10_000);

  it.each<[string, (person: ConsoleClient, refreshToken: string) => Promise<unknown>]>([
    [
      'its person signs it out',
      async (person) => {
        const [program] = (await person.get('/programs')).body;
        expect((await person.delete(`/programs/${program.id}`)).status).toBe(204);
      },
    ],
    [
      'it signs itself out, also twice',
      async (_, token) => {
        for (const _time of [1, 2]) expect((await revoke(token)).status).toBe(200);
      },
    ],
    ['its person signs out everywhere', (person) => person.delete('/sessions')],
    [
      'its person is blocked',
      async (person) => ada.patch(`/users/${(await person.get('/session')).body.user.id}`, { blocked: true }),
    ],
  ])('is soon refused on every ingress, and asked to sign in again, when %s', async (_, end) => {
    const person = await invited();
    const { accessToken, refreshToken } = await signInProgram(cluster.url, person);
    expect(await statuses(accessToken)).toEqual([200, 200]);
    await end(person, refreshToken);
    await untilRefused(accessToken);
    expect(await refresh(other.url, refreshToken)).toMatchObject(unauthorized);
    const refused = await ask(cluster.url, accessToken);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  });

  it('that is signed out by a refresh token that was replaced leaves an entry in the audit trail', async () => {
    const first = await signInProgram(cluster.url, ada);
    const second = (await refresh(cluster.url, first.refreshToken)).body;
    await refresh(other.url, second.refresh_token);
    expect((await revoke(first.refreshToken)).status).toBe(200);
    expect(await refresh(cluster.url, second.refresh_token)).toMatchObject({ status: 401 });
    const [newest] = (await ada.get('/audit')).body.data;
    expect(newest).toMatchObject({ action: 'program.replay', actor: null, target: { id: adaId } });
  });

  it('that was signed out without an announcement is refused everywhere once it signs itself out again', async () => {
    const { accessToken, refreshToken } = await signInProgram(cluster.url, ada);
    const [program] = (await ada.get('/programs')).body;
    const { connection } = await openKeyStore(inject('redisUrl'));
    await new ProgramStore(connection.redis, `${cluster.prefix}:`, () => undefined).signOut(program.id);
    expect(await refresh(cluster.url, refreshToken)).toMatchObject({ status: 401 });
    expect(await statuses(accessToken)).toEqual([200, 200]);
    expect((await revoke(accessToken)).status).toBe(200);
    await untilRefused(accessToken);
  });

  it('whose refresh token comes twice is soon signed out everywhere, and the audit trail says so', async () => {
    const first = await signInProgram(cluster.url, ada);
    const second = (await refresh(cluster.url, first.refreshToken)).body;
    const third = (await refresh(other.url, second.refresh_token)).body;
    expect(await statuses(third.access_token)).toEqual([200, 200]);
    expect(await refresh(other.url, first.refreshToken)).toMatchObject({ status: 401 });
    await untilRefused(third.access_token);
    expect(await refresh(cluster.url, third.refresh_token)).toMatchObject({ status: 401 });
    expect((await ada.get('/audit')).body.data[0]).toMatchObject({ action: 'program.replay', actor: null });
  });

  it('that is one too many ends the oldest sign-in, which every ingress refuses soon', async () => {
    const bob = await invited();
    const first = await signInProgram(cluster.url, bob);
    for (let round = 0; round < 7; round++)
      await Promise.all(Array.from({ length: 7 }, () => signInProgram(cluster.url, bob)));
    expect(await statuses(first.accessToken)).toEqual([200, 200]);
    expect((await bob.get('/programs')).body).toHaveLength(50);
    const last = await signInProgram(other.url, bob);
    await untilRefused(first.accessToken);
    expect(await refresh(cluster.url, first.refreshToken)).toMatchObject({ status: 401 });
    expect(await statuses(last.accessToken)).toEqual([200, 200]);
  });

  it('gets the settings that its models need, and 304 for those that it has already', async () => {
    const { accessToken } = await signInProgram(cluster.url, ada);
    const url = `${cluster.url}/api/anthropic/managed/settings`;
    const headers = { authorization: `Bearer ${accessToken}` };
    const first = await fetch(url, { headers });
    const body = (await first.json()) as Record<string, unknown>;
    const env = {
      CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
      CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1',
      ANTHROPIC_DEFAULT_SONNET_MODEL: 'auto',
    };
    expect(body).toMatchObject({ checksum: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), settings: { env } });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toBe(`"${String(body['checksum'])}"`);
    expect((await fetch(url, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(304);
    expect((await fetch(url)).status).toBe(401);
    for (const path of ['metrics', 'logs', 'traces']) {
      const telemetry = { method: 'POST', headers, body: '{"resourceMetrics":[]}' };
      expect((await fetch(`${cluster.url}/api/anthropic/v1/${path}`, telemetry)).status).toBe(200);
      expect((await fetch(`${cluster.url}/api/anthropic/v1/${path}`, { method: 'POST' })).status).toBe(401);
    }
  });
});

describe('a request to sign a program in', () => {
  it('that is not a form, lacks a field, or repeats one is refused as OAuth demands', async () => {
    const url = `${cluster.url}/oauth/token`;
    const twice: [string, string][] = [
      ['grant_type', deviceGrant],
      ['device_code', 'one'],
      ['device_code', 'two'],
    ];
    const cases: [Record<string, string> | [string, string][], number, string][] = [
      [{}, 400, 'invalid_request'],
      [{ grant_type: 'password', username: 'ada', password: goodPassword }, 400, 'unsupported_grant_type'],
      [{ grant_type: deviceGrant }, 400, 'invalid_request'],
      [{ grant_type: 'refresh_token' }, 400, 'invalid_request'],
      [{ grant_type: deviceGrant, device_code: 'guessed' }, 400, 'expired_token'],
      [{ grant_type: 'refresh_token', refresh_token: 'guessed' }, 401, 'invalid_grant'],
      [{ grant_type: 'refresh_token', refresh_token: 'x'.repeat(5_000) }, 400, 'invalid_request'],
      [twice, 400, 'invalid_request'],
    ];
    for (const [fields, status, error] of cases) {
      expect(await postForm(url, fields)).toMatchObject({ status, body: { error } });
    }
    const large = await postForm(url, { grant_type: 'x'.repeat(20_000) });
    const tooLarge = { error: 'invalid_request', error_description: 'The form is too large.' };
    expect(large).toMatchObject({ status: 413, body: tooLarge });
  });

  it('with another method or another kind of body is refused, and an empty one has no fields', async () => {
    const kinds: [string | undefined, string][] = [
      ['application/json', '{"grant_type":"refresh_token"}'],
      ['text/plain', 'grant_type=refresh_token'],
      [undefined, 'grant_type=refresh_token'],
      ['multipart/form-data; boundary=x', '--x--'],
    ];
    for (const endpoint of ['device_authorization', 'token', 'revoke']) {
      const url = `${cluster.url}/oauth/${endpoint}`;
      for (const [type, text] of kinds) {
        const headers = type === undefined ? {} : { 'content-type': type };
        const answer = await fetch(url, { method: 'POST', headers, body: Buffer.from(text) });
        const refusal = { error: 'invalid_request', error_description: expect.stringContaining('is not a form') };
        expect([answer.status, await answer.json()]).toMatchObject([400, refusal]);
      }
      for (const method of ['GET', 'PUT', 'OPTIONS']) {
        const answer = await fetch(url, { method });
        expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
        expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
      }
    }
    const empty = await fetch(`${cluster.url}/oauth/device_authorization`, { method: 'POST' });
    expect(empty.status).toBe(200);
    // fetch always sends a length.
    const url = `${cluster.url}/oauth/device_authorization`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const bare = request(url, { method: 'POST', headers });
    bare.removeHeader('content-length');
    bare.removeHeader('transfer-encoding');
    const answered = once(bare, 'response') as Promise<[IncomingMessage]>;
    bare.end();
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).toBe(200);
    const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    const odd = { method: 'POST', headers: form, body: 'grant_type=refresh_token&refresh_token=guessed' };
    expect((await fetch(`${cluster.url}/oauth/token`, odd)).status).toBe(401);
  });

  it('beyond the limit of its network address is refused with the time to wait', async () => {
    let answer = await beginDevice();
    for (let count = 1; count <= 50 && answer.status === 200; count++) answer = await beginDevice();
    await forgetAddress();
    expect(answer).toMatchObject({ status: 429, body: { error: 'slow_down' } });
    // The first of the waiting sign-ins began in this test or the one before.
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(400);
    expect(seconds).toBeLessThanOrEqual(600);
    const sentence = `Too many programs are signing in. Try again in ${Math.ceil(seconds / 60)} minutes.`;
    expect(answer.body.error_description).toBe(sentence);
  });

  it('is not sent by a page of another origin', async () => {
    const { accessToken } = await signInProgram(cluster.url, ada);
    const send = async (endpoint: string, headers: Record<string, string>) => {
      const body = new URLSearchParams({ grant_type: deviceGrant, device_code: 'guessed', token: accessToken });
      const answer = await fetch(`${cluster.url}/oauth/${endpoint}`, { method: 'POST', headers, body });
      return [answer.status, (await answer.text()).includes('other origins')];
    };
    for (const endpoint of ['device_authorization', 'token', 'revoke']) {
      for (const headers of [
        { 'sec-fetch-site': 'cross-site', origin: 'https://page.example' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://page.example' },
        { origin: 'null' },
      ]) {
        expect(await send(endpoint, headers)).toEqual([403, true]);
      }
    }
    expect(await statuses(accessToken)).toEqual([200, 200]);
    const own = ['same-origin', 'none'].map((site) => ({ 'sec-fetch-site': site }));
    for (const headers of [...own, { origin: cluster.url }])
      expect(await send('device_authorization', headers)).toEqual([200, false]);
  });

  it('is decided only by a signed-in person on a page of the console', async () => {
    const { body } = await beginDevice();
    const path = `/devices/${body.user_code}`;
    const decision = { decision: 'approve' };
    const stranger = new ConsoleClient(cluster.url);
    expect((await stranger.post(`${path}/find`)).status).toBe(401);
    expect((await stranger.post(path, decision)).status).toBe(401);
    expect((await ada.ask('POST', path, decision, { 'x-csrf-token': 'wrong' })).status).toBe(403);
    expect((await ada.ask('POST', path, decision, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await ada.post(path, { decision: 'deny' })).status).toBe(204);
    const poll = { grant_type: deviceGrant, device_code: String(body.device_code) };
    expect(await postForm(`${cluster.url}/oauth/token`, poll)).toMatchObject({ body: { error: 'access_denied' } });
  });

  it('is not found by guessing codes', async () => {
    const bob = await invited();
    const { body } = await beginDevice();
    const find = `/devices/${body.user_code}/find`;
    // Text that cannot be a code does not count as a guess.
    for (let guess = 0; guess < 20; guess++) expect((await bob.post('/devices/ABC-123/find')).status).toBe(404);
    expect((await bob.post(find)).status).toBe(200);
    for (let guess = 0; guess < 10; guess++) expect((await bob.post('/devices/BBBB-BBBB/find')).status).toBe(404);
    expect(await bob.post(find)).toMatchObject({ status: 429 });
    expect(await bob.post(`/devices/${body.user_code}`, { decision: 'approve' })).toMatchObject({ status: 429 });
    expect((await ada.post(find)).status).toBe(200);
  });

  it('is still accepted after many codes that could not be looked up', async () => {
    const bob = await invited();
    const { body } = await beginDevice();
    const { redis, prefix } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    // A value that Redis cannot read as a code.
    await redis.hset(`${prefix}user-code:CCCCCCCC`, 'any', 'any');
    for (let time = 0; time < 12; time++) expect((await bob.post('/devices/CCCC-CCCC/find')).status).toBe(503);
    expect((await bob.post(`/devices/${body.user_code}/find`)).status).toBe(200);
  });

  it('is not found by guessing many codes at once, nor by mixing them with correct codes', async () => {
    const bob = await invited();
    const right = await beginDevice();
    const known = String(right.body.user_code);
    const codes = Array.from({ length: 60 }, (_, guess) => (guess % 6 === 0 ? known : 'BBBB-BBBB'));
    const answers = await Promise.all(codes.map((code) => bob.post(`/devices/${code}/find`)));
    expect(answers.filter(({ status }) => status === 404).length).toBeLessThanOrEqual(10);
    expect((await bob.post('/devices/BBBB-BBBB/find')).status).toBe(429);
  });

  it("stays available to a person despite pages of other origins and other people's wrong passwords at their address", async () => {
    const email = newEmail('Bob');
    const bob = await invited(email);
    const { body } = await beginDevice();
    const foreign = { origin: 'https://page.example' };
    for (let guess = 0; guess < 20; guess++) {
      expect((await bob.get('/devices/BBBB-BBBB/find')).status).toBe(404);
      expect((await bob.ask('POST', '/devices/BBBB-BBBB/find', {}, foreign)).status).toBe(403);
    }
    const { accounts } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    for (let at = 0; at < 110; at++)
      await accounts.signInGuard.take({ address: '127.0.0.1', email: `${at}@example.com` });
    const { status } = await bob.signIn(email, goodPassword);
    await forgetAddress();
    expect(status).toBe(429);
    expect((await bob.post(`/devices/${body.user_code}/find`)).status).toBe(200);
  });
});

/** Clears the counters of this address for later tests. */
async function forgetAddress(): Promise<void> {
  const { connection, prefix } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
  const [names, address] = [accountNames(prefix), toAddressGroup('127.0.0.1')];
  await connection.redis.del(names.devicesWaitingFrom(address), names.signIns(`from:${address}`));
}

/** Returns a person whom Ada has invited. */
async function invited(email = newEmail('Bob')): Promise<ConsoleClient> {
  return (await inviteToConsole({ client: ada }, 'Bob', { email })).client;
}

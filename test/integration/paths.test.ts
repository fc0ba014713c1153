import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, it } from 'vitest';
import { AdminClient } from '../helpers/console/admin-client.ts';
import type { ConsoleClient } from '../helpers/console/console-client.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { newAdministrator, newEmail } from '../helpers/console/new-administrator.ts';
import { until } from '../helpers/until.ts';
import { goodPassword } from '../helpers/console/good-password.ts';

let ada: ConsoleClient;
let api: AdminClient;
/** The id of a person who has not been admitted yet. */
let waiting: string;
const cluster = useCluster();
beforeAll(async () => {
  ({ client: ada } = await newAdministrator(cluster));
  waiting = String((await ada.post('/users', { email: newEmail('Joan') })).body.id);
  const { body } = await ada.post('/tokens', { name: 'test', scopes: ['admin'] });
  api = new AdminClient(cluster.url, String(body.raw));
});

/** Returns the statuses of a path and of its other spellings. */
async function statuses(path: string, headers: Record<string, string>): Promise<Record<string, number>> {
  const segments = path.split('/').filter((segment) => segment !== '');
  const written = segments.map((segment, at) => `/${segments.with(at, segment.toUpperCase()).join('/')}`);
  const asked = new Set([path, ...written]);
  const answers = [...asked].map(async (each) => {
    let status = 503;
    // A store that stands still for a second counts as away.
    await until(async () => {
      const answer = await fetch(`${cluster.url}${each}`, { headers });
      await answer.arrayBuffer();
      return (status = answer.status) !== 503;
    });
    return [each, status] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

function onlyAsWritten(path: string, all: Record<string, number>): void {
  const { [path]: asWritten, ...others } = all;
  expect([path, asWritten]).not.toEqual([path, 404]);
  expect(others).toEqual(Object.fromEntries(Object.keys(others).map((each) => [each, 404])));
}

it("the Admin API serves paths only in their exact form, so that a proxy's rules match everything that is served", async () => {
  const { body } = await api.get('/openapi.json');
  const found = Object.entries(body.paths as Record<string, { get?: { parameters?: { required?: boolean }[] } }>)
    .filter(([, { get }]) => get && !get.parameters?.some(({ required }) => required))
    .map(([path]) => path);
  expect(found.length).toBeGreaterThan(10);
  for (const path of [...found, '/openapi.json', '/docs']) {
    const whole = `/api/admin/v1${path}`;
    onlyAsWritten(whole, await statuses(whole, { authorization: `Bearer ${api.token}` }));
  }
});

const ofConsole = ['session', 'sessions', 'users', 'connections'].map((name) => `/console/api/${name}`);
const ofApis = ['openai/v1/models', 'anthropic/v1/models', 'openai/v1/health', 'tools/v1/list'];

it.each([...ofConsole, ...ofApis.map((path) => `/api/${path}`), '/health'])(
  '%s is served only in its exact form',
  async (path) => {
    const sent = { authorization: `Bearer ${cluster.key}` };
    onlyAsWritten(path, await statuses(path, ofConsole.includes(path) ? { cookie: ada.cookie ?? '' } : sent));
  },
);

/** Sends a request of Ada that names another host than the router's, which `fetch` would refuse. */
function askAt(host: string, method: string, path: string, body?: object) {
  const session = { cookie: ada.cookie ?? '', 'x-csrf-token': ada.csrfToken ?? '' };
  const headers = { host, accept: '*/*', ...session, ...(body && { 'content-type': 'application/json' }) };
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const sent = request(`${cluster.url}${path}`, { method, headers }, (answer) => {
      text(answer).then((read) => resolve({ status: answer.statusCode, body: read }), reject);
    });
    sent.on('error', reject).end(body && JSON.stringify(body));
  });
}

it.each(['router@evil.org', 'evil.org/router', 'evil.org?', 'evil.org#', 'evil.org\\'])(
  'the malformed host %s does not become an address, and changes nothing',
  async (host) => {
    const message = 'The header `Host` is not the name of a host.';
    const server = '/.well-known/oauth-authorization-server';
    for (const path of ['/', server, `/api/openai${server}`]) {
      const { status, body } = await askAt(host, 'GET', path);
      expect([path, status, JSON.parse(body)]).toMatchObject([path, 400, { error: { message } }]);
    }
    const device = await askAt(host, 'POST', '/oauth/device_authorization');
    expect(JSON.parse(device.body)).toMatchObject({ error: { message } });
    const invitation = { email: newEmail('Grace'), role: 'member' };
    const { status, body } = await askAt(host, 'POST', '/console/api/invitations', invitation);
    expect([status, JSON.parse(body)]).toMatchObject([400, { error: { message } }]);
    expect(JSON.stringify((await ada.get('/invitations')).body)).not.toContain(invitation.email);
    const path = `/console/api/users/${waiting}/password-link`;
    expect((await askAt(host, 'POST', path)).status).toBe(400);
    const { body: trail } = await ada.get(`/audit?action=user.password-link&target=user:${waiting}`);
    expect(trail).toEqual({ data: [] });
    const options = '/console/api/second-factor/passkeys/options';
    const passkey = await askAt(host, 'POST', options, { password: goodPassword });
    expect([passkey.status, JSON.parse(passkey.body)]).toMatchObject([400, { error: { message } }]);
  },
);

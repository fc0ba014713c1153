import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { generateApi } from 'swagger-typescript-api';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { AdminClient } from '../helpers/console/admin-client.ts';
import type { ConsoleClient } from '../helpers/console/console-client.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import { shareCluster } from '../helpers/cluster/share-cluster.ts';
import { newAdministrator, newEmail } from '../helpers/console/new-administrator.ts';
import { uniqueName } from '../helpers/unique-name.ts';
import { useStarted } from '../helpers/use-started.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';

/** The folder of the cluster's authority. */
const folder = useFolder();
let ada: ConsoleClient;
let api: AdminClient;
let source: string;

interface OpenApi {
  paths: Record<string, Record<string, OperationObject>>;
}

interface OperationObject {
  operationId: string;
  parameters?: { name: string; in: string }[];
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

const cluster = useStarted(async () => {
  const { prefix } = await shareCluster();
  await writeAuthority(folder, await createAuthority(prefix, undefined));
  return shareCluster({ ingressOnce: { CREDENTIALS_DIR: folder } });
});
beforeAll(async () => {
  ({ client: ada } = await newAdministrator(cluster));
  const { body } = await ada.post('/tokens', { name: 'test', scopes: ['admin'] });
  api = new AdminClient(cluster.url, String(body.raw));
  source = await (await fetch(`${cluster.url}/api/admin/v1/openapi.json`)).text();
});

describe('the Admin API of a router', () => {
  it('describes itself in a document that is valid by the recommended rules', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source, config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  it('has each of its lists in pages, and none after a cursor that is not of the list', async () => {
    const lists = Object.entries((JSON.parse(source) as OpenApi).paths).flatMap(([path, { get }]) =>
      get?.parameters?.some(({ name }) => name === 'cursor') && !path.includes('{') ? [path] : [],
    );
    expect(lists).toEqual(expect.arrayContaining(['/invitations', '/prices', '/workers', '/worker-credentials']));
    for (const list of lists) {
      for (const cursor of ['x', 'deep/seek', '', '1.5', 'x:y'])
        expect([list, cursor, (await api.get(`${list}?cursor=${cursor}`)).status]).toEqual([list, cursor, 400]);
    }
    const { body: all } = await api.get('/prices?limit=1000');
    const { body: first } = await api.get('/prices?limit=2');
    const { body: second } = await api.get(`/prices?limit=2&cursor=${encodeURIComponent(first.next)}`);
    expect([...first.data, ...second.data]).toEqual(all.data.slice(0, 4));
  });

  it('has no reference beside `additionalProperties: false`', () => {
    expect(source).not.toMatch(/"additionalProperties":false[^{}]*"\$ref"|"\$ref"[^{}]*"additionalProperties":false/);
    expect(source).toMatch(/"description":[^{}]*"\$ref"/);
  });

  it('answers every GET without an id as the document describes', async () => {
    const document = closed(JSON.parse(source));
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema(document, 'api');
    const now = Date.now();
    const span = `from=${now - 86_400_000}&to=${now}`;
    const me = (await api.get('/users')).body.data[0].id;
    const queries: Record<string, string> = {
      getUsage: `?${span}&step=day&by=model`,
      getUsageHours: `?${span}&by=model`,
      getRefusals: `?${span}`,
      listBatches: `?owner=user:${me}`,
      listFiles: `?owner=user:${me}`,
      exportRequests: `?${span}&format=json`,
      exportAuditEntries: '?format=json',
    };
    await api.put('/prices/openai/gpt-oss', { input: 1, output: 2 });
    await api.put(`/keys-by-name/${uniqueName('first')}`, { kind: 'user' });
    await api.put(`/teams-by-name/${uniqueName('Blue')}`, { limits: { costPerDay: 3 }, ceiling: { tiers: ['gpu'] } });
    await api.post('/invitations', { email: newEmail('Bob'), role: 'member' });
    await api.post('/webhooks', { kind: 'router', url: 'https://example.com/', events: ['batch.*'] });
    await api.post('/worker-credentials', { name: 'box', tier: 'gpu', expiresInDays: 1 });
    const asked: string[] = [];
    for (const [path, methods] of Object.entries(document.paths)) {
      const operation = methods['get'];
      if (!operation || path.includes('{')) continue;
      const { operationId } = operation;
      const { status, body } = await api.get(`${path}${queries[operationId] ?? ''}`);
      expect([operationId, status, body?.error]).toEqual([operationId, 200, undefined]);
      const pointer = `#/paths/${path.replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`;
      if (!operationId.startsWith('export') && !ajv.validate({ $ref: `api${pointer}` }, body)) {
        expect([operationId, ajv.errors]).toEqual([operationId, []]);
      }
      asked.push(operationId);
    }
    expect(asked.length).toBeGreaterThan(15);
  });

  it('shows the document on a page of its own, which loads nothing from elsewhere', async () => {
    const page = await fetch(`${cluster.url}/api/admin/v1/docs`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await page.text();
    for (const [, path = ''] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const { status, headers } = await fetch(new URL(path, page.url));
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('content-type')).toMatch(/javascript|css/);
    }
    expect((await fetch(`${cluster.url}/api/admin/v1/docs/package.json`)).status).toBe(401);
  });

  it('answers an unknown operation with its own error, and does not accept a session in place of a token', async () => {
    expect(await api.get('/nothing')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    const cookie = ada.cookie ?? '';
    const answer = await fetch(`${cluster.url}/api/admin/v1/users`, { headers: { cookie } });
    expect(answer.status).toBe(401);
    const broken = await post({ ...cluster, key: api.token, path: '/admin/v1/teams', body: '{' });
    expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
  });

  it('is used with a client that is generated from the document', async () => {
    const folder = mkdtempSync(join(import.meta.dirname, '.client-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const spec = JSON.parse(source);
    const { files } = await generateApi({ spec, output: false, silent: true, moduleNameFirstTag: true });
    const [file] = files;
    if (!file) throw new Error('nothing was generated');
    writeFileSync(join(folder, 'client.ts'), file.fileContent);
    const { Api } = await import(join(folder, 'client.ts'));
    const sdk = new Api({
      baseUrl: `${cluster.url}/api/admin/v1`,
      baseApiParams: { headers: { authorization: `Bearer ${api.token}` } },
    });
    const name = uniqueName('Generated');
    const made = await sdk.teams.upsertTeam(name, { weight: 2 });
    expect(made.data).toMatchObject({ name, weight: 2 });
    const { headers } = await sdk.teams.getTeam(made.data.id);
    const change = { limits: { costPerMonth: 10 } };
    const match = { headers: { authorization: `Bearer ${api.token}`, 'if-match': headers.get('etag') } };
    expect((await sdk.teams.changeTeam(made.data.id, change, match)).data).toMatchObject(change);
    await expect(sdk.teams.changeTeam(made.data.id, change, match)).rejects.toMatchObject({ status: 412 });
    const key = await sdk.keys.createKey({ kind: 'team', teamId: made.data.id, name: 'ci' });
    expect(key.data.raw).toMatch(/^team\./);
    const listed = await sdk.keys.listKeys({ owner: made.data.id, limit: 10 });
    expect(listed.data.data).toMatchObject([{ name: 'ci' }]);
    const priced = await sdk.prices.setPrice('openai/gpt-oss-120b', { input: 1, output: 2 });
    expect(priced.data).toMatchObject({ model: 'openai/gpt-oss-120b', source: 'changed' });
    const unnamed = { status: 400, error: { error: { code: 'invalid_request', field: 'name' } } };
    await expect(sdk.teams.createTeam({ name: '' })).rejects.toMatchObject(unnamed);
    const workers = await sdk.workers.listWorkers();
    // Workers of earlier test files may still be listed.
    expect(workers.data.data).toContainEqual(expect.objectContaining({ tier: 'gpu', state: 'serving' }));
  });
});

/** Returns the document with objects closed to further fields: every answered field must be documented. */
function closed(document: OpenApi): OpenApi {
  return JSON.parse(JSON.stringify(document), (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'properties' in value && 'type' in value
      ? { additionalProperties: false, ...value }
      : value,
  ) as OpenApi;
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { maxRegistryBytes } from '#shared/registry/editable-sections.ts';
import { followRegistry } from '#shared/registry/follow-registry.ts';
import { followStoredRegistry, type StoredRegistry } from '#shared/registry/follow-stored-registry.ts';
import type { NewRegistryVersion } from '#shared/accounts/registry-versions/registry-versions.ts';
import { registryOperations } from '#services/console/api/registry/registry-operations.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { openHouse } from '../../../helpers/console/open-console.ts';
import { AdminClient } from '../../../helpers/console/admin-client.ts';
import { refusal, wrongField } from '../../../helpers/console/refusals.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const text = '# Mine\nmodels:\n  fast: { targets: [{ model: a }] } # for everybody\n';
const config = { models: { fast: { targets: [{ model: 'a' }] } } };
const first = { text, config };
const empty = { text: 'models: {}\n', config: { models: {} } };

/** A console, its administrator, and the stored registry as this node follows it. */
async function open() {
  const own: { registry?: StoredRegistry } = {};
  const registry: Parameters<typeof registryOperations>[0]['registry'] = {
    source: 'store',
    readShownSections: () => own.registry?.readShownSections() ?? {},
    version: () => own.registry?.version(),
    announceChange: async () => own.registry?.refresh(),
  };
  const house = await openHouse([], {
    furtherOperations: ({ accounts, log }) => registryOperations({ accounts, log, registry }),
  });
  const versions = house.accounts.registryVersions;
  const readConfig = async (number: number): Promise<unknown> => (await versions.find(number))?.config;
  const source = {
    findNewest: () => versions.findNewest(),
    findBefore: (at: number) => versions.findPrevious(at),
    readConfig,
  };
  const followed = await followStoredRegistry(source, silentLog);
  own.registry = followed;
  onTestFinished(() => followed.close());
  /** Stores versions of these texts as an ingress does after a check, without the check, which takes a thread. */
  const store = async (...stored: Pick<NewRegistryVersion, 'text' | 'config'>[]): Promise<void> => {
    for (const [basedOn, version] of stored.entries()) await versions.add({ ...version, basedOn, by: house.ada.id });
    await followed.refresh();
  };
  return { ...house, followed, store };
}

it('a stored version is announced to every listener once, even if another listener throws', async () => {
  const { followed, store } = await open();
  const calls: string[] = [];
  followed.onChange(() => {
    calls.push('first');
    throw new Error('broken');
  });
  followed.onChange(() => calls.push('second'));
  await store(first);
  await followed.refresh();
  expect(calls).toEqual(['first', 'second']);
});

describe('the registry in the console', () => {
  it('is empty until a version is stored, and then answers that version as text and as JSON', async () => {
    const { ada, followed } = await open();
    const changes: (number | undefined)[] = [];
    followed.onChange(() => changes.push(followed.version()?.number));
    const none = { source: 'none', readOnly: false, version: 0, etag: '', config: {}, text: '' };
    expect((await ada.get('/registry')).body).toEqual(none);
    const stored = await ada.put('/registry', { text, basedOn: 0, note: 'The first one.' });
    expect(stored).toMatchObject({ status: 200, body: { source: 'store', version: 1, text, config } });
    expect(changes).toEqual([1]);
    expect((await ada.get('/registry')).body).toEqual(stored.body);
    expect(stored.body.inUse).toBeUndefined();
    expect(followed.current().models['fast']?.targets).toEqual([{ model: 'a' }]);
    const facts = { version: 1, by: { id: ada.id, name: 'Ada' }, note: 'The first one.', at: expect.any(Number) };
    expect((await ada.get('/registry/versions')).body).toEqual([{ ...facts, bytes: text.length }]);
    const { body } = await ada.get('/registry/versions/1');
    expect(body).toEqual({ ...facts, bytes: text.length, text, config });
    expect((await ada.get('/registry/versions/2')).status).toBe(404);
    expect((await ada.get('/registry/versions/x')).status).toBe(400);
  });

  it('is accepted as JSON too, and refused with control characters in the note', async () => {
    const { ada } = await open();
    expect(await ada.put('/registry', { text, basedOn: 0, note: 'red \u001B[31m' })).toMatchObject(wrongField('note'));
    const { body } = await ada.put('/registry', { config, basedOn: 0 });
    expect(body).toMatchObject({ config, text: 'models:\n  fast:\n    targets:\n      - model: a\n' });
    for (const neither of [{ basedOn: 1 }, { basedOn: 1, text, config }])
      expect(await ada.put('/registry', neither)).toMatchObject(refusal(400, 'invalid_request'));
  });

  it('is refused with the field and the line of its first mistake, and a check lists all', async () => {
    const { ada, accounts } = await open();
    const wrong = 'models:\n  fast: { targets: [{ model: a, weight: -1 }] }\nsign_in: {}\n';
    const refused = await ada.put('/registry', { text: wrong, basedOn: 0 });
    const field = 'models.fast.targets.0.weight';
    expect(refused).toMatchObject(refusal(400, 'invalid_registry', field));
    expect(refused.body.error.message).toMatch(/^line 2, models.fast.targets.0.weight: Too small.* \(and 1 more\)$/);
    const { body } = await ada.post('/registry/check', { text: wrong });
    const tooSmall = { field, line: 2, message: expect.stringContaining('Too small') };
    const ofFile = { field: 'sign_in', line: 3, message: expect.stringContaining('ROUTER_CONFIG') };
    expect(body).toEqual({ ok: false, problems: [tooSmall, ofFile] });
    expect((await ada.post('/registry/check', { text })).body).toEqual({ ok: true, problems: [] });
    expect(await accounts.registryVersions.list()).toEqual([]);
  });

  it('is not stored when another version was stored since the one that was edited', async () => {
    const { ada, store } = await open();
    await store(first, empty);
    const refused = await ada.put('/registry', { text, basedOn: 1 });
    expect(refused).toMatchObject(refusal(409, 'registry_changed', 'basedOn'));
    expect(refused.body.error.message).toContain('Version 2 is the newest one');
    expect((await ada.get('/registry')).body).toMatchObject({ version: 2, text: empty.text });
  });

  it('is reverted to an earlier version as a new one, comments included', async () => {
    const { ada, followed, store } = await open();
    await store(first, empty);
    expect(followed.current().models).toEqual({});
    const reverted = await ada.post('/registry/revert', { version: 1 });
    expect(reverted).toMatchObject({ status: 200, body: { version: 3, text } });
    expect(Object.keys(followed.current().models)).toEqual(['fast']);
    const versions = [{ version: 3, revertOf: 1 }, { version: 2 }, { version: 1 }];
    expect((await ada.get('/registry/versions')).body).toMatchObject(versions);
    expect((await ada.post('/registry/revert', { version: 9 })).status).toBe(404);
    expect((await ada.post('/registry/revert', { version: 2, basedOn: 2 })).status).toBe(409);
  });

  it('of another release stays as it is: it is shown, is not used, and can be reverted', async () => {
    const { ada, followed, store } = await open();
    const newer = { text: 'moods: {}\n', config: { moods: {} } };
    await store(first, newer);
    expect(Object.keys(followed.current().models)).toEqual(['fast']);
    expect((await ada.get('/registry')).body).toMatchObject({ version: 2, inUse: 1, text: newer.text });
    expect(await ada.post('/registry/revert', { version: 2 })).toMatchObject({ status: 400 });
    expect((await ada.post('/registry/revert', { version: 1 })).body).toMatchObject({ version: 3, text });
    expect((await ada.get('/registry')).body.inUse).toBeUndefined();
  });

  it('leaves every change in the audit trail, and no name of a deleted person in its history', async () => {
    const { ada, join } = await open();
    const eve = await join(ada, 'eve@example.com', { role: 'admin' });
    await eve.put('/registry', { text, basedOn: 0, note: 'For everybody.' });
    await ada.post('/registry/revert', { version: 1 });
    expect((await ada.get('/audit?action=registry.*')).body.data).toMatchObject([
      { action: 'registry.revert', details: { before: 1, after: 2, revertOf: 1 }, actor: { name: 'Ada' } },
      { action: 'registry.change', details: { before: 0, after: 1, note: 'For everybody.' }, actor: { name: 'eve' } },
    ]);
    await ada.delete(`/users/${eve.id}`);
    const { body } = await ada.get('/registry/versions');
    expect(body.at(-1).by).toEqual({ id: eve.id, name: expect.stringContaining('deleted person') });
  });

  it('is changed by programs with an admin token, which the history names, and with the ETag that they have read', async () => {
    const { ada, accounts, url } = await open();
    const owner = { name: 'deploy', scopes: ['admin'], expiresAt: Date.now() + 60_000 } as const;
    const { raw, record } = made(await accounts.adminTokens.create({ ...owner, madeAt: 'ada@workstation' }));
    const program = new AdminClient(url, raw);
    const put = (headers: Record<string, string>) => program.ask('PUT', '/registry', { config }, headers);
    expect((await program.get('/registry')).headers.get('etag')).toBe('"0"');
    const stored = await put({ 'if-match': '"0"' });
    expect([stored.status, stored.headers.get('etag')]).toEqual([200, '"1"']);
    expect((await put({ 'if-match': '"0"' })).status).toBe(412);
    expect(await put({})).toMatchObject(wrongField('basedOn'));
    const version = { version: 1, by: { id: `token:${record.id}`, name: 'deploy' } };
    expect((await ada.get('/registry/versions')).body).toMatchObject([version]);
  });

  it('is for administrators only', async () => {
    const { ada, join, browser, store } = await open();
    await store(first);
    const bob = await join(ada, 'bob@example.com');
    for (const person of [bob, browser()])
      for (const answer of [
        await person.get('/registry'),
        await person.get('/registry/versions'),
        await person.get('/registry/versions/1'),
        await person.put('/registry', { text, basedOn: 1 }),
        await person.post('/registry/check', { text }),
        await person.post('/registry/revert', { version: 1 }),
      ])
        expect(answer.status).toBe(person === bob ? 403 : 401);
  });

  it('is accepted up to its maximum size and refused above it; nobody else may send a body of that size', async () => {
    const { ada, browser } = await open();
    const line = `# ${'"'.repeat(61)}\n`;
    const large = line.repeat(Math.floor(maxRegistryBytes / line.length));
    expect((await ada.put('/registry', { text: large, basedOn: 0 })).body).toMatchObject({ version: 1, text: large });
    const refused = await ada.put('/registry', { text: large + line, basedOn: 1 });
    expect(refused.body.error).toMatchObject({ code: 'invalid_registry', message: 'the text is larger than 256 KiB' });
    expect((await ada.put('/registry', { text: large.repeat(3), basedOn: 1 })).status).toBe(413);
    expect((await browser().put('/registry', { text: large, basedOn: 1 })).status).toBe(401);
    expect((await ada.patch('/settings', { text: large })).status).toBe(413);
  });
});

it('a file that ROUTER_CONFIG names is shown without possible secrets, and cannot be edited', async () => {
  const file = join(temporaryFolder(), 'r.yaml');
  const prices = { a: { input: 1, output: 2 } };
  writeFileSync(file, JSON.stringify({ ...config, prices, providers: { openai: { OPENAI_API_KEY: 's3cret' } } }));
  const followed = followRegistry(file, silentLog);
  onTestFinished(() => followed.close());
  const source = { source: 'file', version: () => undefined, announceChange: () => Promise.resolve() } as const;
  const registry = { ...followed, ...source };
  const { ada, accounts } = await openHouse([], {
    furtherOperations: ({ accounts: opened, log }) => registryOperations({ accounts: opened, log, registry }),
  });
  const { body } = await ada.get('/registry');
  const shown = { source: 'file', readOnly: true, version: 0, config: { ...config, prices } };
  expect(body).toEqual({ ...shown, etag: expect.stringMatching(/^.{16}$/) });
  await accounts.registryVersions.add({ basedOn: 0, text, config, by: ada.id });
  const error = { code: 'registry_read_only', message: expect.stringContaining('ROUTER_CONFIG') };
  const put = await ada.put('/registry', { text, basedOn: 1 });
  for (const refused of [put, await ada.post('/registry/revert', { version: 1 })])
    expect(refused).toMatchObject({ status: 409, body: { error } });
  expect(await accounts.registryVersions.list()).toHaveLength(1);
});

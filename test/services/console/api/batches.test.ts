import { describe, expect, it } from 'vitest';
import type { NewBatch } from '#shared/accounts/batches/batch-record.ts';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import { deletedName } from '#shared/accounts/people/delete-person.ts';
import { Files } from '#shared/files/files.ts';
import { batchOperations } from '#services/console/api/batches/batch-operations.ts';
import { fileOperations } from '#services/console/api/files/file-operations.ts';
import { sendContent } from '#services/ingress/files/send-content.ts';
import { UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import type { AuditEntry } from '#services/console/contract/audit.ts';
import { openTeam, type Person } from '../../../helpers/console/open-console.ts';
import { inPieces } from '../../../helpers/files/bytes.ts';
import { openObjects } from '../../../helpers/files/open-objects.ts';
import { denied, notFound } from '../../../helpers/console/refusals.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const hourMs = 3_600_000;
const inMessages = { api: 'anthropic', path: '/messages', endpoint: undefined };

const idsOf = (page: { batches: { id: string }[] }): string[] => page.batches.map(({ id }) => id);

/** An administrator, an owner of a team, a member of it, and somebody else, with the batches and files that all of them may have. */
async function openBatches() {
  const { store } = await openObjects();
  const parts: { batches?: Batches; work?: BatchWork; files?: Files } = {};
  const house = await openTeam(['mel'], {
    furtherOperations: ({ accounts, redis, prefix, log }) => {
      const report = (): void => undefined;
      const batches = new Batches(redis, prefix, { bounds: { maxOpen: 100, keepMs: hourMs }, report });
      const work = new BatchWork(redis, prefix, { report });
      const bounds = { ownerBytes: 1_000_000, totalBytes: 10_000_000 };
      const records = new FileRecords(redis, prefix, { bounds, report });
      const files = new Files({ records, store, fileBytes: 500_000, fileLines: 1_000, log: silentLog });
      Object.assign(parts, { batches, work, files });
      const sendFile: Parameters<typeof fileOperations>[0]['sendFile'] = (request, response, file) =>
        sendContent(request, response, file, {
          files,
          unreadOutputs: new UnreadOutputs(1_000_000),
          bodyTimeoutMs: 10_000,
        });
      return [
        ...batchOperations({ accounts, log, batches, work, batchApis: ['openai', 'anthropic'] }),
        ...fileOperations({ accounts, log, files, sendFile }),
      ];
    },
  });
  const { batches, work, files } = parts;
  if (!batches || !work || !files) throw new Error('the routes were not opened');
  const create = (id: string, owner: string, change: Partial<NewBatch> = {}) => {
    const createdAt = Date.now();
    const path = '/chat/completions';
    const facts = { id, owner, key: 'k', api: 'openai', path, endpoint: `/v1${path}`, inputFile: 'rtr1', total: 0 };
    return batches.create({ ...facts, createdAt, expiresAt: createdAt + hourMs, ...change });
  };
  return { ...house, batches, work, files, create };
}

describe('batches in the console', () => {
  it('are listed for their person and their teams, from all APIs, the newest first', async () => {
    const { ada, bob, eve, mel, teamId, create } = await openBatches();
    const now = Date.now();
    await create('batch_1', bob.id, { createdAt: now - 3_000 });
    await create('msgbatch_2', bob.id, { createdAt: now - 2_000, ...inMessages });
    await create('batch_3', teamId, { createdAt: now - 1_000 });
    const own = await bob.get(`/batches?owner=user:${bob.id}&limit=1`);
    expect(own.body).toMatchObject({ more: true, batches: [{ id: 'msgbatch_2', endpoint: '/messages' }] });
    const { body: both } = await bob.get(`/batches?owner=user:${bob.id}`);
    expect([both.more, idsOf(both)]).toEqual([false, ['msgbatch_2', 'batch_1']]);
    const may = { mayCancel: true, mayRead: true };
    const first = { owner: { kind: 'user', id: bob.id, name: 'bob' }, state: 'validating', cost: 0, ...may };
    expect(both.batches[1]).toMatchObject(first);
    const ofTeam = `/batches?owner=team:${teamId}`;
    expect((await eve.get(ofTeam)).body.batches[0]).toMatchObject({ id: 'batch_3', mayCancel: false, mayRead: false });
    expect((await ada.get(ofTeam)).body.batches[0]).toMatchObject({ id: 'batch_3', mayCancel: true, mayRead: false });
    for (const hidden of [ofTeam, `/batches?owner=user:${bob.id}`, '/batches/batch_1', `/batches?owner=key:${mel.id}`])
      expect(await mel.get(hidden)).toMatchObject(notFound);
    // A person's id is not a team's: what a team may see is not found under another kind.
    expect(await eve.get(`/batches?owner=user:${teamId}`)).toMatchObject(notFound);
    expect((await mel.get('/batches?owner=x')).status).toBe(400);
  });

  it('come in pages, without gaps where several were created at once', async () => {
    const { bob, mel, create } = await openBatches();
    const now = Date.now();
    const made = Array.from({ length: 12 }, (_, at) => ({
      id: `${at % 2 === 0 ? 'batch' : 'msgbatch'}_${at}`,
      // Four at a time.
      createdAt: now - 1_000 * Math.floor(at / 4),
      ...(at % 2 === 1 && inMessages),
    }));
    for (const { id, ...change } of made) await create(id, bob.id, change);
    const path = `/batches?owner=user:${bob.id}`;
    const { body: whole } = await bob.get(path);
    expect(idsOf(whole).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    for (const limit of [1, 3, 5]) {
      const seen: string[] = [];
      for (let more = true; more;) {
        const last = seen.at(-1);
        const { body: page } = await bob.get(`${path}&limit=${limit}${last === undefined ? '' : `&after=${last}`}`);
        seen.push(...idsOf(page));
        ({ more } = page);
      }
      expect(seen).toEqual(idsOf(whole));
    }
    expect(await bob.get(`${path}&after=batch_none`)).toMatchObject(notFound);
    await create('batch_of_mel', mel.id);
    expect(await bob.get(`${path}&after=batch_of_mel`)).toMatchObject(notFound);
  });

  it('state what is wrong with their input, with a message only for those who may read the input', async () => {
    const { ada, bob, create, work } = await openBatches();
    await create('batch_1', bob.id, { metadata: { run: 'nightly' } });
    const place = { code: 'duplicate_custom_id', line: 7 };
    const problems = [{ ...place, message: 'The custom_id "a" is that of an earlier line, too.' }];
    await work.move('batch_1', { from: 'validating', to: 'failed', fields: { problems }, timed: 'failedAt' });
    const seen = { state: 'failed', problems, metadata: { run: 'nightly' }, firstErrors: [], mayCancel: false };
    expect((await bob.get('/batches/batch_1')).body).toMatchObject(seen);
    const { body: managed } = await ada.get('/batches/batch_1');
    expect(managed).toMatchObject({ problems: [place], metadata: {} });
    expect(JSON.stringify(managed)).not.toContain('custom_id "a"');
  });

  it('are cancelled by their owners and by administrators, which the audit trail shows', async () => {
    const { ada, eve, bob, teamId, create } = await openBatches();
    await create('batch_1', teamId);
    await create('batch_2', bob.id);
    // Administrators see all batches that have not ended, whoever owns them.
    const owners = (await ada.get('/batches/open')).body.map(({ owner }: { owner: { name: string } }) => owner.name);
    expect(owners.toSorted()).toEqual(['Blue', 'bob']);
    expect(await bob.get('/batches/open')).toMatchObject(denied);
    expect(await eve.post('/batches/batch_1/cancel')).toMatchObject(denied);
    const { body } = await bob.post('/batches/batch_1/cancel');
    expect(body).toMatchObject({ id: 'batch_1', cancelledAt: expect.any(Number), mayCancel: false });
    expect((await ada.post('/batches/batch_1/cancel')).status).toBe(200);
    const notes = (await ada.get('/audit?action=batch.cancel')).body.data;
    expect(notes.at(-1)).toMatchObject({ actor: { name: 'bob' }, target: { id: 'batch_1' } });
  });
});

describe('files in the console', () => {
  const content = Buffer.from('{"line":1}\n{"line":2}\n');

  it('are listed in pages with the storage that they use, and deleted', async () => {
    const { ada, bob, mel, files } = await openBatches();
    for (const name of ['a.jsonl', 'b.jsonl', 'c.jsonl'])
      await files.add(bob.id, inPieces(content), { purpose: 'batch', name });
    const path = `/files?owner=user:${bob.id}`;
    const { body: page } = await bob.get(`${path}&limit=2`);
    const listed = [{ name: 'c.jsonl', purpose: 'batch', bytes: content.length, lines: 2 }, { name: 'b.jsonl' }];
    const use = { bytes: 3 * content.length, maxBytes: 1_000_000, files: 3, maxFiles: 10_000 };
    expect(page).toMatchObject({ files: listed, more: true, use, mayRead: true, mayDelete: true });
    const { body: rest } = await bob.get(`${path}&limit=2&after=${page.files[1].id}`);
    expect(rest).toMatchObject({ files: [{ name: 'a.jsonl' }], more: false });
    const one = `/files/${page.files[0].id}?owner=user:${bob.id}`;
    expect(await mel.get(path)).toMatchObject(notFound);
    expect(await mel.delete(one)).toMatchObject(notFound);
    expect((await bob.delete(one)).status).toBe(204);
    expect(await bob.delete(one)).toMatchObject(notFound);
    expect((await bob.get(path)).body.use).toMatchObject({ bytes: 2 * content.length, files: 2 });
    const notes = (await ada.get('/audit?action=file.delete')).body.data;
    expect(notes).toMatchObject([{ actor: { name: 'bob' }, target: { name: 'c.jsonl' } }]);
  });

  it('of deleted people and of their keys have no name in the audit trail; files of teams have one', async () => {
    const { ada, bob, teamId, files } = await openBatches();
    const { body: issued } = await ada.post('/keys', { kind: 'user', userId: bob.id, name: 'issued' });
    for (const [kind, ownerId] of Object.entries({ user: bob.id, key: String(issued.key.id), team: teamId })) {
      const { id } = await files.add(ownerId, inPieces(content), { purpose: 'batch', name: `of a ${kind}.jsonl` });
      expect((await ada.delete(`/files/${id}?owner=${kind}:${ownerId}`)).status).toBe(204);
    }
    const names = async () =>
      (await ada.get('/audit?action=file.delete')).body.data.map(({ target }: AuditEntry) => target?.name);
    expect(await names()).toEqual(['of a team.jsonl', 'of a key.jsonl', 'of a user.jsonl']);
    await ada.delete(`/users/${bob.id}`);
    expect(await names()).toEqual(['of a team.jsonl', deletedName(bob.id), deletedName(bob.id)]);
  });

  it('are read only by their owners, and never shown as a page', async () => {
    const { ada, bob, eve, mel, teamId, files, url } = await openBatches();
    const { id } = await files.add(teamId, inPieces(content), { purpose: 'batch', name: 'in.jsonl' });
    const path = `/files/${id}/content?owner=team:${teamId}`;
    const download = ({ cookie = '' }: Person, of: string) => fetch(`${url}/console/api${of}`, { headers: { cookie } });
    const answer = await download(bob, path);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(content);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="in\.jsonl"/);
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    for (const person of [ada, eve]) expect(await person.get(path)).toMatchObject(denied);
    expect(await mel.get(path)).toMatchObject(notFound);
    const { id: own } = await files.add(ada.id, inPieces(content), { purpose: 'batch', name: 'ada.jsonl' });
    const mine = await download(ada, `/files/${own}/content?owner=user:${ada.id}`);
    expect(await mine.text()).toBe(String(content));
    expect(await bob.get(`/files/${id}/content?owner=user:${bob.id}`)).toMatchObject(notFound);
  });
});

import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { chatLine } from '../helpers/batches/batch-clients.ts';
import { openaiOutcome } from '../helpers/clients/openai-outcome.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import type { ConsoleClient } from '../helpers/console/console-client.ts';
import { newTeamOwner } from '../helpers/console/new-team-owner.ts';
import { until } from '../helpers/until.ts';

let ada: ConsoleClient;
let bob: ConsoleClient;
let bobId: string;
let teamId: string;

const cluster = useCluster();
beforeAll(async () => {
  ({ ada, bob, bobId, teamId } = await newTeamOwner(cluster));
});

/** Returns a client with a key that a person creates in the console, or rotates. */
async function clientWith(maker: ConsoleClient, fields: object, path = '/keys') {
  const { status, body } = await maker.post(path, { ...(path === '/keys' && { name: `${Math.random()}` }), ...fields });
  expect(status).toBe(201);
  const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: String(body.raw), maxRetries: 0 });
  return { key: body.key, openai };
}

async function store(openai: OpenAI): Promise<{ file: string; answer: string }> {
  const upload = await toFile(Buffer.from('a secret'), 'secret.txt');
  const { id: file } = await openai.files.create({ file: upload, purpose: 'user_data' });
  const { id: answer } = await openai.responses.create({ model: 'demo', input: 'My name is Bob.' });
  return { file, answer };
}

const statusOf = async (asked: Promise<unknown>) => [await openaiOutcome(asked)].flat()[0];

/** Returns the statuses of reading the stored file and answer. */
async function reads(openai: OpenAI, { file, answer }: { file: string; answer: string }): Promise<unknown[]> {
  const asked = [
    openai.files.content(file),
    openai.files.retrieve(file),
    openai.responses.retrieve(answer),
    openai.responses.create({ model: 'demo', input: 'Who am I?', previous_response_id: answer }),
  ];
  return Promise.all(asked.map(statusOf));
}

const all = [200, 200, 200, 200];
const none = [404, 404, 404, 400];

/** Returns the statuses of reaching a batch, a background answer, and a file as input with a key that may be another one. */
async function reaches(openai: OpenAI, maker: OpenAI): Promise<unknown[]> {
  const line = `${JSON.stringify(chatLine('a', 'x'))}\n`;
  const upload = (text: string, name: string, purpose: 'batch' | 'user_data') =>
    toFile(Buffer.from(text), name).then((file) => maker.files.create({ file, purpose }));
  const { id: lines } = await upload(line, 'lines.jsonl', 'batch');
  const { id: file_id } = await upload('a secret', 'secret.txt', 'user_data');
  const batch = { input_file_id: lines, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
  const { id: made } = await maker.batches.create(batch);
  const { id: background } = await maker.responses.create({ model: 'demo', input: 'x', background: true });
  const content = [{ type: 'input_file' as const, file_id }];
  const asked = [
    () => openai.batches.retrieve(made),
    () => openai.batches.cancel(made),
    () => openai.batches.create(batch),
    () => openai.responses.create({ model: 'demo', input: [{ role: 'user', content }] }),
    () => openai.responses.inputItems.list(background),
    () => openai.responses.delete(background),
    () => openai.files.delete(lines),
  ];
  const statuses: unknown[] = [];
  for (const ask of asked) statuses.push(await statusOf(ask()));
  return statuses;
}

describe('a key that an administrator has issued', () => {
  it('for a person or a team cannot read their data, and they cannot read its data', async () => {
    const owners = [
      { kind: 'user', userId: bobId },
      { kind: 'team', teamId },
    ];
    for (const owner of owners) {
      const own = await clientWith(bob, owner);
      const stored = await store(own.openai);
      expect(await reads(own.openai, stored)).toEqual(all);
      const issued = await clientWith(ada, owner);
      expect(issued.key.issued).toEqual({ by: 'Ada', storesAs: `key:${issued.key.id}` });
      expect(await reads(issued.openai, stored)).toEqual(none);
      expect((await issued.openai.files.list()).data).toEqual([]);
      expect(await reaches(own.openai, own.openai)).toEqual(Array.from({ length: 7 }, () => 200));
      expect(await reaches(issued.openai, own.openai)).toEqual(Array.from({ length: 7 }, () => 404));
      expect((await issued.openai.batches.list()).data).toEqual([]);
      const again = { headers: { 'idempotency-key': `of ${owner.kind}` } };
      const answerOf = async ({ openai }: typeof own) =>
        (await openai.responses.create({ model: 'demo', input: 'Who am I?' }, again)).id;
      const first = await answerOf(own);
      expect([await answerOf(own), await answerOf(issued)]).toEqual([first, expect.not.stringMatching(first)]);
      const alone = await store(issued.openai);
      expect(await reads(issued.openai, alone)).toEqual(all);
      expect(await reads(own.openai, alone)).toEqual(none);
      // Its owner is billed.
      const query = `from=${Date.now() - 3_600_000}&to=${Date.now() + 3_600_000}&step=day&by=key&${owner.kind}=${owner.userId ?? owner.teamId}`;
      await until(async () => JSON.stringify((await ada.get(`/usage?${query}`)).body).includes(issued.key.id));
    }
  });

  it('is rotated by its owner with its stored data, and loses that when it is revoked', async () => {
    const issued = await clientWith(ada, { kind: 'user', userId: bobId });
    const stored = await store(issued.openai);
    const next = await clientWith(bob, { overlapMs: 60_000 }, `/keys/${issued.key.id}/rotate`);
    expect(next.key.issued).toEqual({ by: 'Ada', storesAs: `key:${issued.key.id}` });
    expect(await reads(next.openai, stored)).toEqual(all);
    expect((await bob.delete(`/keys/${issued.key.id}`)).status).toBe(204);
    expect(await reads(next.openai, stored)).toEqual(all);
    const files = `/files?owner=key:${issued.key.id}`;
    expect((await ada.get(files)).body.files).toHaveLength(1);
    expect((await bob.delete(`/keys/${next.key.id}`)).status).toBe(204);
    expect((await ada.get(files)).body.files).toEqual([]);
  });
});

describe('a key of somebody', () => {
  it('is rotated only by people who may read its stored data', async () => {
    const denied = { status: 403, body: { error: { code: 'permission_denied' } } };
    const personal = await clientWith(bob, { kind: 'user' });
    const ofTeam = await clientWith(bob, { kind: 'team', teamId });
    const issued = await clientWith(ada, { kind: 'user', userId: bobId });
    for (const { key } of [personal, ofTeam, issued])
      expect(await ada.post(`/keys/${key.id}/rotate`, { overlapMs: 0 })).toMatchObject(denied);
    expect((await bob.post(`/keys/${personal.key.id}/rotate`, { overlapMs: 0 })).status).toBe(201);
    expect((await bob.post(`/keys/${ofTeam.key.id}/rotate`, { overlapMs: 0 })).status).toBe(201);
  });

  it('of a team that an administrator has issued can be rotated to a key without its stored data', async () => {
    const issued = await clientWith(ada, { kind: 'team', teamId });
    const stored = await store(issued.openai);
    const next = await clientWith(ada, { overlapMs: 60_000 }, `/keys/${issued.key.id}/rotate`);
    expect(await reads(next.openai, stored)).toEqual(none);
    expect((await ada.delete(`/teams/${teamId}`)).status).toBe(204);
    expect((await ada.get(`/files?owner=key:${issued.key.id}`)).body.files).toEqual([]);
  });
});

import express, { type RequestHandler } from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BoundedCopy } from '#services/ingress/recording/bounded-copy.ts';
import type { RecordingOutcome } from '#services/ingress/recording/lost-recordings.ts';
import { Recorder } from '#services/ingress/recording/recorder.ts';
import { createContext } from '#services/ingress/http/request-context.ts';
import type { RecordingFields } from '#shared/accounts/recordings/recording.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import { until } from '../../../helpers/until.ts';
import { identityOf } from '../../../helpers/serving/serving-parts.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

interface Kept {
  owner: string;
  facts: RecordingFields;
  request: string;
  answer: string;
}

/** Opens a recorder on a server with this handler, and collects its recordings. */
async function recording(
  handle: RequestHandler,
  { bytes = 1_000, model = 'demo', failWith = undefined as Error | undefined, roomBytes = 10_000 } = {},
) {
  const kept: Kept[] = [];
  const outcomes: RecordingOutcome[] = [];
  const warnings: unknown[] = [];
  const recorder = new Recorder({
    recordings: {
      store: async (owner, facts, request, answer) => {
        if (failWith) throw failWith;
        kept.push({ owner, facts, request: Buffer.from(request).toString(), answer: Buffer.from(answer).toString() });
        return 'kept';
      },
    },
    bytes,
    roomBytes,
    count: (outcome) => outcomes.push(outcome),
    log: { warn: (facts: unknown) => void warnings.push(facts) },
  });
  const app = express();
  app.post('/ask', (request, response, next) => {
    const ownerId = request.get('x-owner') ?? 'ada';
    const sender = { id: 'k1', name: 'laptop', kind: 'user', ownerId } as const;
    createContext(response, 'r1').sender = identityOf(sender);
    recorder.begin(request, response, 'chat', Buffer.from('a body')).model = model;
    return handle(request, response, next);
  });
  const url = `${await serveInTest(app)}/ask?x=1`;
  const ask = (init: RequestInit = {}) => fetch(url, { method: 'POST', ...init });
  /** Sends requests one after the other, and returns the last answer with its text once all are counted. */
  const record = async (count = 1) => {
    const before = outcomes.length;
    let last = { text: '', headers: new Headers() };
    for (let asked = 0; asked < count; asked += 1) {
      const answer = await ask();
      last = { text: await answer.text(), headers: answer.headers };
    }
    await until(() => outcomes.length === before + count);
    return last;
  };
  return { kept, outcomes, warnings, recorder, ask, record };
}

describe('a recorded request', () => {
  it('is answered as usual, with a header, and kept with its answer', async () => {
    const { record, kept, recorder } = await recording((_, response) => {
      response.write('one ');
      response.write(Buffer.from('two '));
      response.end('three');
    });
    const { headers, text } = await record();
    expect([headers.get('x-rtr-recorded'), text]).toEqual(['true', 'one two three']);
    expect(kept).toMatchObject([{ owner: 'ada', request: 'a body', answer: 'one two three' }]);
    const asked = { id: 'r1', endpoint: 'POST /ask', model: 'demo', owner: { kind: 'user', id: 'ada' } };
    const answered = { status: 200, end: 'whole', requestBytes: 6, answerBytes: 13, isAnswerCut: false };
    expect(kept[0]?.facts).toMatchObject({ ...asked, ...answered });
    expect(recorder.heldBytes).toBe(0);
  });

  it('is kept up to its bound, with its full length', async () => {
    const { record, kept } = await recording((_, response) => void response.json('x'.repeat(98)), { bytes: 10 });
    expect((await record()).text).toHaveLength(100);
    expect(kept[0]?.answer).toHaveLength(10);
    expect(kept[0]?.facts).toMatchObject({ answerBytes: 100, isAnswerCut: true, isRequestCut: false });
  });

  it('keeps the beginning of a long model name, which no bound of its body cuts', async () => {
    const long = { model: 'm'.repeat(10_000) };
    const { record, kept } = await recording((_, response) => void response.end(), long);
    await record();
    expect(kept[0]?.facts.model).toBe('m'.repeat(256));
  });

  it('that its client cancels is kept as cut', async () => {
    const { ask, kept, outcomes } = await recording((_, response) => void response.write('begun'));
    const leaving = new AbortController();
    const answer = await ask({ signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    await until(() => outcomes.length === 1);
    expect(kept).toMatchObject([{ answer: 'begun', facts: { end: 'cut', status: 200 } }]);
  });

  it('takes half of the memory that the recordings of other owners leave, together with all others of its owner', async () => {
    const answers: { end: () => unknown }[] = [];
    const { ask, kept, outcomes, recorder } = await recording(
      (_, response) => {
        response.write('x'.repeat(100));
        answers.push(response);
      },
      { roomBytes: 1_000 },
    );
    const begun = Array.from({ length: 10 }, () => ask());
    await until(() => answers.length === 10);
    expect(recorder.heldBytes).toBeLessThanOrEqual(500);
    begun.push(ask({ headers: { 'x-owner': 'bob' } }));
    await until(() => answers.length === 11);
    for (const answer of answers) answer.end();
    await Promise.all(begun);
    await until(() => outcomes.length === 11);
    const wholeOf = (name: string) => kept.filter(({ owner, facts }) => owner === name && !facts.isAnswerCut).length;
    expect([wholeOf('ada'), wholeOf('bob'), recorder.heldBytes]).toEqual([4, 1, 0]);
  });

  it('is answered although the store fails, and counted as lost', async () => {
    const away = { failWith: new Error('away') };
    const { record, outcomes, recorder } = await recording((_, response) => void response.end('fine'), away);
    expect((await record()).text).toBe('fine');
    expect(outcomes).toEqual(['lost']);
    expect(recorder.heldBytes).toBe(0);
  });

  it('is counted in a log line a minute about lost ones, without a stack', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const away = { failWith: createStoreUnavailableError(new Error('away')) };
    const { record, warnings, recorder } = await recording((_, response) => void response.end('fine'), away);
    const [first, minute, rest] = [1, 20, 3].map((lost) => ({ lost, reason: 'redis: away' }));
    await record(21);
    expect(warnings).toEqual([first]);
    vi.advanceTimersByTime(60_000);
    expect(warnings).toEqual([first, minute]);
    vi.advanceTimersByTime(120_000);
    await record(4);
    expect(warnings).toEqual([first, minute, first]);
    await recorder.close();
    expect(warnings).toEqual([first, minute, first, rest]);
  });
});

it('CutBytes keeps copies within the shared room, and never what follows a gap', () => {
  const room = new StoreQueueBudget(12);
  const [one, other] = ['ada', 'bob'].map((owner) => new BoundedCopy(10, room.openShare(owner)));
  if (!one || !other) throw new Error('no copies');
  const reused = Buffer.from('12345678');
  one.add(reused);
  reused.fill(0);
  for (let time = 0; time < 2; time += 1) expect(one.join().toString()).toBe('12345678');
  other.add(Buffer.from('12345'));
  other.add(Buffer.from('1'));
  expect([other.join().length, other.bytes, other.isCut]).toEqual([0, 6, true]);
  one.release();
  expect(room.taken).toBe(0);
});

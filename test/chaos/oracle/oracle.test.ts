import { describe, expect, it } from 'vitest';
import type { FaultName } from '../faults/fault-kinds.ts';
import { makeSchedule } from '../faults/schedule.ts';
import type { Execution } from '../faults/engine-front.ts';
import { readAnswer } from '../load/read-answer.ts';
import { expectedText, planRequest, type RequestPlan } from '../load/request-plan.ts';
import type { Sent } from '../load/send-request.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { Disturbances } from './disturbances.ts';
import { judgeAnswers } from './judge-answers.ts';
import { judgeLedger, type LedgerEntry } from './judge-ledger.ts';
import { judgeGrowth } from './judge-leftovers.ts';
import { judgeBlame, judgePoison } from './judge-poison.ts';
import { judgeSlots } from './judge-slots.ts';
import { judgeTools } from './judge-tools.ts';

const calm = new Disturbances([]);
const during = (name: FaultName, from: number, to: number): Disturbances =>
  new Disturbances([{ fault: { name, at: 0, lastsMs: to - from, index: 0 }, from, to }]);

const plan = (also: Partial<RequestPlan> = {}): RequestPlan =>
  planRequest('c1-1', seededRandom(1), {
    format: 'chat',
    stream: true,
    words: 12,
    ingress: 0,
    behaviour: 'reads',
    ...also,
  });

/** The events of a streamed answer with these pieces of text. */
function events({ format }: RequestPlan, pieces: readonly string[]): string[] {
  const data = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`;
  if (format === 'chat') {
    return [
      ...pieces.map((content) => data({ choices: [{ delta: { content }, finish_reason: null }] })),
      data({ choices: [], usage: { completion_tokens: pieces.length } }),
      'data: [DONE]\n\n',
    ];
  }
  return [
    ...pieces.map((text) => `event: content_block_delta\n${data({ delta: { type: 'text_delta', text } })}`),
    `event: message_delta\n${data({ type: 'message_delta', usage: { output_tokens: pieces.length } })}`,
    `event: message_stop\n${data({ type: 'message_stop' })}`,
  ];
}

const piecesOf = (one: RequestPlan): string[] => expectedText(one).split(/(?<= )/);

/** A request with an answer of these bytes. */
function sent(one: RequestPlan, body: string, also: Partial<Sent> = {}, broken?: string, status = 200): Sent {
  return {
    plan: one,
    sentAt: 1_000,
    firstTextAt: 1_100,
    endedAt: 2_000,
    left: false,
    stalledMs: 0,
    answer: readAnswer(one, { status, body, broken }),
    ...also,
  };
}

const rules = (found: readonly { rule: string }[]): string[] => found.map(({ rule }) => rule);
const judge = (one: Sent, disturbances = calm): string[] => rules(judgeAnswers([one], disturbances, 60_000));
const record = (also: Partial<LedgerEntry> = {}): LedgerEntry => {
  return { id: 'c1-1', outcome: 'done', completionTokens: piecesOf(plan()).length, attempts: 1, ...also };
};

describe.each(['chat', 'messages'] as const)('the oracle, of a streamed %s answer,', (format) => {
  const one = plan({ format });
  const pieces = piecesOf(one);
  const end = events(one, []).slice(-2);

  it('finds nothing wrong with an exact one', () => {
    expect(judge(sent(one, events(one, pieces).join('')))).toEqual([]);
  });

  it('finds a lost token, a doubled one and two that changed places, wherever they are', () => {
    for (const [at, piece] of pieces.entries()) {
      expect(judge(sent(one, events(one, pieces.toSpliced(at, 1)).join('')))).toEqual(['wrong text']);
      expect(judge(sent(one, events(one, pieces.toSpliced(at, 0, piece)).join('')))).toEqual(['wrong text']);
    }
    const swapped = pieces.with(3, pieces[4] ?? '').with(4, pieces[3] ?? '');
    expect(judge(sent(one, events(one, swapped).join('')))).toEqual(['wrong text']);
  });

  it('finds a silent end, and none where an error event says so', () => {
    const some = events(one, pieces).slice(0, 5);
    expect(judge(sent(one, some.join('')))).toEqual(['silent end']);
    const error = `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error' } })}\n\n`;
    expect(judge(sent(one, some.join('') + error))).toEqual([]);
    expect(judge(sent(one, some.toSpliced(2, 1).join('') + error))).toEqual(['wrong text']);
  });

  it('finds a connection that broke though its ingress lived', () => {
    const some = events(one, pieces).slice(0, 5).join('');
    expect(judge(sent(one, some, {}, 'cut'))).toEqual(['broken connection']);
    expect(judge(sent(one, some, {}, 'cut'), during('ingress-kill', 1_500, 1_600))).toEqual([]);
    expect(judge(sent(one, some, {}, 'cut'), during('worker-kill', 1_500, 1_600))).toEqual(['broken connection']);
  });

  it('finds what follows the end', () => {
    const whole = events(one, pieces).join('');
    expect(judge(sent(one, whole + events(one, ['x'])[0]))).toContain('bytes after the end');
    expect(judge(sent(one, whole + end.at(-1)))).toContain('bytes after the end');
  });

  it('finds one that never ends, or too late', () => {
    const some = events(one, pieces).slice(0, 5).join('');
    expect(judge(sent(one, some, { endedAt: undefined }))).toEqual(['never ended']);
    const whole = events(one, pieces).join('');
    expect(judge(sent(one, whole, { endedAt: 62_000 }))).toEqual(['ended late']);
  });
});

describe('the oracle', () => {
  it('finds a refusal that the request does not deserve', () => {
    const error = JSON.stringify({ error: { code: 'invalid_api_key' } });
    expect(judge(sent(plan(), error, {}, undefined, 401))).toEqual(['refused']);
    expect(judge(sent(plan(), error, {}, undefined, 400))).toEqual(['refused']);
    expect(judge(sent(plan(), error, {}, undefined, 400), during('engine-400', 900, 1_100))).toEqual([]);
    expect(judge(sent(plan(), error, {}, undefined, 503))).toEqual([]);
  });

  it('finds a slot that stays busy for a client that is gone', () => {
    const gone = sent(plan(), '', { left: true });
    const busy = (endedAt: number | undefined): Execution => ({ id: 'c1-1', engine: 0, startedAt: 1_050, endedAt });
    expect(rules(judgeSlots([busy(2_900)], [gone], calm, 50_000))).toEqual([]);
    expect(rules(judgeSlots([busy(3_100)], [gone], calm, 50_000))).toEqual(['busy slot']);
    expect(rules(judgeSlots([busy(undefined)], [gone], calm, 50_000))).toEqual(['busy slot']);
    expect(rules(judgeSlots([busy(9_000)], [gone], during('worker-stop', 1_900, 6_000), 50_000))).toEqual([]);
    expect(rules(judgeSlots([busy(9_000)], [gone], during('engine-500', 1_900, 6_000), 50_000))).toEqual(['busy slot']);
    expect(rules(judgeSlots([busy(undefined)], [gone], during('worker-stop', 1_900, 6_000), 50_000))).toEqual([
      'busy slot',
    ]);
  });

  it('finds an answer that no engine gave', () => {
    const whole = sent(plan(), events(plan(), piecesOf(plan())).join(''));
    expect(rules(judgeSlots([], [whole], calm, 50_000))).toEqual(['not executed']);
  });

  it('finds a wrong count, a missing record and a doubled one', () => {
    const whole = sent(plan(), events(plan(), piecesOf(plan())).join(''));
    expect(judgeLedger([whole], [record()], calm)).toEqual([]);
    expect(rules(judgeLedger([whole], [record({ completionTokens: 3 })], calm))).toEqual(['ledger']);
    expect(rules(judgeLedger([whole], [record({ outcome: 'failed' })], calm))).toEqual(['ledger']);
    expect(rules(judgeLedger([whole], [record(), record()], calm))).toEqual(['ledger']);
    expect(rules(judgeLedger([whole], [], calm))).toEqual(['ledger']);
    expect(judgeLedger([whole], [], during('ingress-kill', 2_500, 2_600))).toEqual([]);
  });

  it('finds a tool call that ran twice, or not at all', () => {
    const tool = plan({ format: 'tools', stream: false });
    const answered = sent(tool, JSON.stringify({ content: [{ type: 'text', text: expectedText(tool) }] }));
    expect(judge(answered)).toEqual([]);
    expect(judgeTools([answered], [tool.id])).toEqual([]);
    expect(rules(judgeTools([answered], [tool.id, tool.id]))).toEqual(['executed twice']);
    expect(rules(judgeTools([answered], []))).toEqual(['not executed']);
  });

  it('finds a request that kills too many workers', () => {
    const poison = sent(plan({ poison: true }), '', {}, undefined, 502);
    expect(judgePoison([poison], [{ id: 'c1-1' }, { id: 'c1-1' }], 2)).toEqual([]);
    expect(rules(judgePoison([poison], [{ id: 'c1-1' }, { id: 'c1-1' }, { id: 'c1-1' }], 2))).toEqual(['poison']);
  });

  it('finds a request that is blamed for the deaths of workers that it did not see', () => {
    const blamed = sent(plan(), JSON.stringify({ error: { code: 'workers_died' } }), {}, undefined, 422);
    expect(judgeBlame([blamed], [1_200, 1_700])).toEqual([]);
    expect(rules(judgeBlame([blamed], [1_200, 2_700]))).toEqual(['blamed']);
    expect(judgeBlame([sent(plan({ poison: true }), '', {}, undefined, 422)], [])).toEqual([]);
  });

  it('finds memory and handles that a part keeps', () => {
    const before = [{ name: 'ingress-0', pid: 1, memory: 100, handles: 30 }];
    expect(judgeGrowth(before, [{ name: 'ingress-0', pid: 1, memory: 200, handles: 40 }])).toEqual([]);
    expect(rules(judgeGrowth(before, [{ name: 'ingress-0', pid: 1, memory: 400, handles: 90 }]))).toEqual([
      'leftover',
      'leftover',
    ]);
  });
});

describe('a schedule', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(makeSchedule(5, 60_000)).toEqual(makeSchedule(5, 60_000));
    expect(makeSchedule(5, 60_000)).not.toEqual(makeSchedule(6, 60_000));
  });
});

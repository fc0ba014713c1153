import { describe, expect, it } from 'vitest';
import { faultNames, type FaultName } from '../faults/fault-kinds.ts';
import { makeSchedule } from '../faults/schedule.ts';
import type { Execution } from '../faults/engine-front.ts';
import { readAnswer } from '../load/read-answer.ts';
import { expectedText, planRequest, type RequestPlan } from '../load/request-plan.ts';
import type { Sent } from '../load/send-request.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { Disturbances } from './disturbances.ts';
import type { Struck } from '../faults/inject.ts';
import { judgeAgain } from './judge-again.ts';
import { judgeAnswers } from './judge-answers.ts';
import { judgeLedger, type LedgerEntry } from './judge-ledger.ts';
import { judgeCrashes } from './judge-crashes.ts';
import { judgeFailures, judgeRecovery } from './judge-failures.ts';
import { judgeGrowth, type Footprint } from './judge-growth.ts';
import { judgeBlame, judgePoison } from './judge-poison.ts';
import { judgeSlots } from './judge-slots.ts';
import { judgeTools } from './judge-tools.ts';

const calm = new Disturbances([]);
const struck = (name: FaultName, from: number, to: number, index = 0): Struck => ({
  fault: { name, at: 0, lastsMs: to - from, index, draw: 0 },
  from,
  to,
});
const during = (name: FaultName, from: number, to: number): Disturbances => new Disturbances([struck(name, from, to)]);

const plan = (also: Partial<RequestPlan> = {}): RequestPlan =>
  planRequest('c1-1', seededRandom(1), {
    format: 'chat',
    stream: true,
    words: 12,
    ingress: 0,
    behaviour: 'reads',
    ...also,
  });

/** Returns the events of a streamed answer with these pieces of text. */
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

/** Returns a request with an answer of these bytes. */
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

  it('finds nothing wrong with an exact answer', () => {
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

  it('finds a silent end, and none where an error event reports it', () => {
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
    const other = sent({ ...one, ingress: 1 }, some, {}, 'cut');
    expect(judge(other, during('ingress-kill', 1_500, 1_600))).toEqual(['broken connection']);
  });

  it('finds bytes after the end', () => {
    const whole = events(one, pieces).join('');
    expect(judge(sent(one, whole + events(one, ['x'])[0]))).toContain('bytes after the end');
    expect(judge(sent(one, whole + end.at(-1)))).toContain('bytes after the end');
  });

  it('finds an answer that never ends, or too late', () => {
    const some = events(one, pieces).slice(0, 5).join('');
    expect(judge(sent(one, some, { endedAt: undefined }))).toEqual(['never ended']);
    const whole = events(one, pieces).join('');
    expect(judge(sent(one, whole, { endedAt: 62_000 }))).toEqual(['ended late']);
  });
});

describe('the oracle', () => {
  it('finds a request that was sent twice with one idempotency key and charged twice', () => {
    const whole = sent(plan({ againMs: 100 }), events(plan(), piecesOf(plan())).join(''));
    const pair = { first: whole, again: { ...whole, plan: { ...whole.plan, ingress: 1 } } };
    expect(judgeAgain([pair], [record()], calm)).toEqual([]);
    expect(judgeAgain([pair], [record({ outcome: 'cancelled' }), record()], calm)).toEqual([]);
    expect(rules(judgeAgain([pair], [record(), record()], calm))).toEqual(['executed twice']);
    expect(judgeAgain([pair], [record(), record()], during('ingress-kill', 1_500, 1_600))).toEqual([]);
  });

  it('finds a request that was sent twice with one idempotency key and not charged, or not what its clients saw', () => {
    const whole = sent(plan({ againMs: 100 }), events(plan(), piecesOf(plan())).join(''));
    const cut = sent(plan({ againMs: 100, ingress: 1 }), '', { left: true }, 'cut');
    for (const pair of [
      { first: whole, again: cut },
      { first: cut, again: whole },
    ]) {
      expect(judgeAgain([pair], [record()], calm)).toEqual([]);
      expect(rules(judgeAgain([pair], [record({ outcome: 'cancelled' })], calm))).toEqual(['ledger']);
      expect(rules(judgeAgain([pair], [record({ completionTokens: 3 })], calm))).toEqual(['ledger']);
      for (const index of [0, 1]) {
        // The store was away, and either ingress that may have had the record was killed before the store came back.
        const lost = [struck('redis-kill', 13_000, 15_000), struck('ingress-kill', 14_000, 14_500, index)];
        expect(judgeAgain([pair], [], new Disturbances(lost))).toEqual([]);
      }
      expect(rules(judgeAgain([pair], [], during('redis-kill', 13_000, 15_000)))).toEqual(['ledger']);
    }
    expect(judgeAgain([{ first: cut, again: cut }], [record({ outcome: 'cancelled' })], calm)).toEqual([]);
  });

  it('finds a refusal that the request does not deserve', () => {
    const error = JSON.stringify({ error: { code: 'invalid_api_key' } });
    expect(judge(sent(plan(), error, {}, undefined, 401))).toEqual(['refused']);
    expect(judge(sent(plan(), error, {}, undefined, 400))).toEqual(['refused']);
    expect(judge(sent(plan(), error, {}, undefined, 400), during('engine-400', 900, 1_100))).toEqual([]);
    expect(judge(sent(plan(), error, {}, undefined, 503))).toEqual([]);
    const call = sent(plan({ format: 'tools' }), error, {}, undefined, 404);
    const restart = struck('ingress-kill', 400, 700);
    expect(judge(call, new Disturbances([restart, struck('worker-kill', 300, 900, 4)]))).toEqual([]);
    expect(judge(call, new Disturbances([restart, struck('worker-kill', 300, 900, 1)]))).toEqual(['refused']);
    expect(judge(call, new Disturbances([struck('worker-kill', 300, 900, 4)]))).toEqual(['refused']);
  });

  it('finds a slot that stays busy for a client that is gone', () => {
    const gone = sent(plan(), '', { left: true });
    const busy = (endedAt: number | undefined): Execution => ({ id: 'c1-1', engine: 0, startedAt: 1_050, endedAt });
    expect(rules(judgeSlots([busy(2_900)], [gone], calm, 50_000))).toEqual([]);
    expect(rules(judgeSlots([busy(3_100)], [gone], calm, 50_000))).toEqual(['busy slot']);
    expect(rules(judgeSlots([busy(undefined)], [gone], calm, 50_000))).toEqual(['busy slot']);
    expect(rules(judgeSlots([busy(9_000)], [gone], during('worker-stop', 1_900, 6_000), 50_000))).toEqual([]);
    // Requested after its client was gone, by a worker that stood still meanwhile.
    const late = { ...busy(5_012), startedAt: 5_000 };
    expect(rules(judgeSlots([late], [gone], calm, 50_000))).toEqual(['busy slot']);
    expect(rules(judgeSlots([late], [gone], during('worker-stop', 1_900, 4_900), 50_000))).toEqual([]);
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
    expect(rules(judgeLedger([whole], [], during('ingress-kill', 4_500, 4_600)))).toEqual(['ledger']);
    // Records that a failing primary loses are written again, unless their ingress is killed before.
    const failed = struck('redis-kill', 2_500, 9_000);
    expect(rules(judgeLedger([whole], [], new Disturbances([failed])))).toEqual(['ledger']);
    expect(judgeLedger([whole], [], new Disturbances([failed, struck('ingress-kill', 8_000, 8_100)]))).toEqual([]);
    const others = struck('ingress-kill', 8_000, 8_100, 1);
    expect(rules(judgeLedger([whole], [], new Disturbances([failed, others])))).toEqual(['ledger']);
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
    const death = { id: 'c1-1', worker: 'gpu-1', at: 2_000 };
    expect(judgePoison([poison], [death, death], 2)).toEqual([]);
    expect(rules(judgePoison([poison], [death, death, death], 2))).toEqual(['poison']);
  });

  it('finds a request that is blamed for the deaths of workers that it did not see', () => {
    const blamed = sent(plan(), JSON.stringify({ error: { code: 'workers_died' } }), {}, undefined, 422);
    expect(judgeBlame([blamed], [1_200, 1_700], calm)).toEqual([]);
    expect(rules(judgeBlame([blamed], [1_200, 2_700], calm))).toEqual(['blamed']);
    expect(judgeBlame([sent(plan({ poison: true }), '', {}, undefined, 422)], [], calm)).toEqual([]);
    const later = { ...blamed, endedAt: 6_000 };
    expect(judgeBlame([later], [1_200], during('worker-stop', 2_000, 5_500))).toEqual([]);
    expect(rules(judgeBlame([later], [1_200], during('worker-stop', 2_000, 4_500)))).toEqual(['blamed']);
    expect(rules(judgeBlame([later], [1_200], during('worker-stop', 4_000, 7_500)))).toEqual(['blamed']);
    expect(rules(judgeBlame([later], [1_200], during('ingress-stop', 2_000, 5_500)))).toEqual(['blamed']);
  });

  it.each([
    ['chat', { code: 'workers_died', type: 'invalid_request_error' }],
    ['messages', { type: 'invalid_request_error' }],
  ] as const)('finds a %s stream that is blamed in the middle', (format, error) => {
    const body = { type: 'error', error: { ...error, message: 'Two workers died while they served this request.' } };
    const one = plan({ format });
    const streamed = sent(one, `${events(one, piecesOf(one))[0]}event: error\ndata: ${JSON.stringify(body)}\n\n`);
    expect(judge(streamed)).toEqual([]);
    expect(judgeBlame([streamed], [1_200, 1_700], calm)).toEqual([]);
    expect(rules(judgeBlame([streamed], [1_200], calm))).toEqual(['blamed']);
  });

  it('finds a cluster that fails everything, and one that has not recovered', () => {
    const done = sent(plan(), events(plan(), piecesOf(plan())).join(''));
    const refused = sent(plan(), '{}', {}, undefined, 503);
    const poison = sent(plan({ poison: true }), '{}', {}, undefined, 422);
    expect(judgeFailures([done, done, done, refused], 0.3)).toEqual([]);
    expect(judgeFailures([done, poison, poison], 0.3)).toEqual([]);
    expect(rules(judgeFailures([done, refused], 0.3))).toEqual(['too many failures']);
    expect(rules(judgeFailures([refused], 0.3))).toEqual(['too many failures']);
    expect(judgeRecovery([done])).toEqual([]);
    expect(rules(judgeRecovery([done, refused]))).toEqual(['not recovered']);
  });

  it('finds a component that ends by itself, once it was ready', () => {
    const part = (wasReady: boolean) => ({ name: 'gpu-0', crashes: [{ at: 1, wasReady, detail: '1: out of memory' }] });
    expect(rules(judgeCrashes([part(true)]))).toEqual(['crashed']);
    expect(judgeCrashes([part(false), { name: 'gpu-1', crashes: [] }])).toEqual([]);
  });

  it('finds memory and handles that a component keeps', () => {
    const at = (ms: number, memory: number, handles: number): Footprint => {
      return { name: 'ingress-0', pid: 1, at: ms, memory, handles };
    };
    expect(judgeGrowth([at(0, 20, 10), at(10_000, 100, 30), at(40_000, 200, 40)])).toEqual([]);
    expect(rules(judgeGrowth([at(0, 20, 10), at(10_000, 100, 30), at(40_000, 400, 90)]))).toEqual([
      'leftover',
      'leftover',
    ]);
    // A process that has just been started loads its code.
    expect(judgeGrowth([at(0, 20, 10), at(9_000, 180, 60)])).toEqual([]);
    // Another process of the same name is compared with itself.
    const other = { ...at(60_000, 90, 30), pid: 2 };
    expect(judgeGrowth([at(0, 20, 10), at(40_000, 400, 90), other])).toEqual([]);
  });

  it('finds slow growth of memory and handles, and no peaks', () => {
    const minutes = (memory: (minute: number) => number, handles: (minute: number) => number): Footprint[] =>
      Array.from({ length: 31 }, (_, minute) => {
        return { name: 'ingress-1', pid: 1, at: minute * 60_000, memory: memory(minute), handles: handles(minute) };
      });
    const flat = (level: number) => (minute: number) => level + (minute % 2 === 0 ? 5 : 0);
    expect(judgeGrowth(minutes(flat(150), flat(40)))).toEqual([]);
    expect(judgeGrowth(minutes((minute) => (minute === 20 ? 900 : 150), flat(40)))).toEqual([]);
    expect(rules(judgeGrowth(minutes((minute) => 150 + 5 * minute, flat(40))))).toEqual(['leftover']);
    expect(rules(judgeGrowth(minutes(flat(150), (minute) => 40 + 1.2 * minute)))).toEqual(['leftover']);
  });
});

describe('a schedule', () => {
  it('is the same for the same seed, and differs for another seed', () => {
    expect(makeSchedule(5, 60_000)).toEqual(makeSchedule(5, 60_000));
    expect(makeSchedule(5, 60_000)).not.toEqual(makeSchedule(6, 60_000));
  });

  it('has each kind at least once in a minute, and 75 faults or more', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const schedule = makeSchedule(seed, 60_000);
      expect(schedule.length).toBeGreaterThanOrEqual(75);
      expect(faultNames.filter((name) => !schedule.some((fault) => fault.name === name))).toEqual([]);
    }
  });
});

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

const disturbed = (...faults: Struck[]): Disturbances => new Disturbances(faults);
const calm = disturbed();
const struck = (name: FaultName, from: number, to: number, index = 0): Struck => ({
  fault: { name, at: 0, lastsMs: to - from, index, draw: 0 },
  from,
  to,
});
const during = (...fault: Parameters<typeof struck>): Disturbances => disturbed(struck(...fault));

const usual = { format: 'chat', stream: true, words: 12, ingress: 0, behaviour: 'reads' } as const;
const plan = (also: Partial<RequestPlan> = {}): RequestPlan =>
  planRequest('c1-1', seededRandom(1), { ...usual, ...also });

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

/** The same with its whole answer. */
const served = (one: RequestPlan): Sent => sent(one, events(one, piecesOf(one)).join(''));

/** The same, refused with this status and code. */
const refusedWith = (status: number, code?: string, one = plan()): Sent =>
  sent(one, JSON.stringify({ error: { code } }), {}, undefined, status);

const rules = (found: readonly { rule: string }[]): string[] => found.map(({ rule }) => rule);
const judge = (one: Sent, disturbances = calm): string[] => rules(judgeAnswers([one], disturbances, 60_000));
const footprint = (at: number, memory: number, handles: number): Footprint => {
  return { name: 'ingress-0', pid: 1, at, memory, handles };
};
const record = (also: Partial<LedgerEntry> = {}): LedgerEntry => {
  return { id: 'c1-1', outcome: 'done', completionTokens: piecesOf(plan()).length, attempts: 1, ...also };
};

describe.each(['chat', 'messages'] as const)('the oracle, of a streamed %s answer,', (format) => {
  const one = plan({ format });
  const pieces = piecesOf(one);
  const whole = events(one, pieces).join('');
  const some = events(one, pieces).slice(0, 5);
  const begun = some.join('');

  it('finds nothing wrong with an exact answer', () => {
    expect(judge(sent(one, whole))).toEqual([]);
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
    expect(judge(sent(one, begun))).toEqual(['silent end']);
    const error = `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error' } })}\n\n`;
    expect(judge(sent(one, begun + error))).toEqual([]);
    expect(judge(sent(one, some.toSpliced(2, 1).join('') + error))).toEqual(['wrong text']);
  });

  it('finds a connection that broke though its ingress lived', () => {
    const cut = sent(one, begun, {}, 'cut');
    const kill = during('ingress-kill', 1_500, 1_600);
    expect(judge(cut)).toEqual(['broken connection']);
    expect(judge(cut, kill)).toEqual([]);
    expect(judge(cut, during('worker-kill', 1_500, 1_600))).toEqual(['broken connection']);
    expect(judge(sent({ ...one, ingress: 1 }, begun, {}, 'cut'), kill)).toEqual(['broken connection']);
  });

  it('finds bytes after the end', () => {
    for (const more of [events(one, ['x'])[0], events(one, []).at(-1)])
      expect(judge(sent(one, whole + more))).toContain('bytes after the end');
  });

  it('finds an answer that never ends, or too late', () => {
    expect(judge(sent(one, begun, { endedAt: undefined }))).toEqual(['never ended']);
    expect(judge(sent(one, whole, { endedAt: 62_000 }))).toEqual(['ended late']);
  });
});

describe('the oracle', () => {
  it('finds a request that was sent twice with one idempotency key and charged twice', () => {
    const whole = served(plan({ againMs: 100 }));
    const pair = { first: whole, again: { ...whole, plan: { ...whole.plan, ingress: 1 } } };
    expect(judgeAgain([pair], [record()], calm)).toEqual([]);
    expect(judgeAgain([pair], [record({ outcome: 'cancelled' }), record()], calm)).toEqual([]);
    expect(rules(judgeAgain([pair], [record(), record()], calm))).toEqual(['executed twice']);
    expect(judgeAgain([pair], [record(), record()], during('ingress-kill', 1_500, 1_600))).toEqual([]);
  });

  it('finds a request that was sent twice with one idempotency key and not charged, or not what its clients saw', () => {
    const whole = served(plan({ againMs: 100 }));
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
        expect(judgeAgain([pair], [], disturbed(...lost))).toEqual([]);
      }
      expect(rules(judgeAgain([pair], [], during('redis-kill', 13_000, 15_000)))).toEqual(['ledger']);
    }
    expect(judgeAgain([{ first: cut, again: cut }], [record({ outcome: 'cancelled' })], calm)).toEqual([]);
  });

  it('finds a refusal that the request does not deserve', () => {
    for (const status of [401, 400]) expect(judge(refusedWith(status))).toEqual(['refused']);
    expect(judge(refusedWith(400), during('engine-400', 900, 1_100))).toEqual([]);
    expect(judge(refusedWith(503))).toEqual([]);
    const call = refusedWith(404, undefined, plan({ format: 'tools' }));
    const restart = struck('ingress-kill', 400, 700);
    expect(judge(call, disturbed(restart, struck('worker-kill', 300, 900, 4)))).toEqual([]);
    expect(judge(call, disturbed(restart, struck('worker-kill', 300, 900, 1)))).toEqual(['refused']);
    expect(judge(call, during('worker-kill', 300, 900, 4))).toEqual(['refused']);
  });

  it('finds a slot that stays busy for a client that is gone', () => {
    const gone = sent(plan(), '', { left: true });
    const found = (endedAt: number | undefined, disturbances = calm, startedAt = 1_050): string[] => {
      const busy: Execution = { id: 'c1-1', engine: 0, startedAt, endedAt };
      return rules(judgeSlots([busy], [gone], disturbances, 50_000));
    };
    expect(found(2_900)).toEqual([]);
    expect(found(3_100)).toEqual(['busy slot']);
    expect(found(undefined)).toEqual(['busy slot']);
    expect(found(9_000, during('worker-stop', 1_900, 6_000))).toEqual([]);
    // Requested after its client was gone, by a worker that stood still meanwhile.
    expect(found(5_012, calm, 5_000)).toEqual(['busy slot']);
    expect(found(5_012, during('worker-stop', 1_900, 4_900), 5_000)).toEqual([]);
    expect(found(9_000, during('engine-500', 1_900, 6_000))).toEqual(['busy slot']);
    expect(found(undefined, during('worker-stop', 1_900, 6_000))).toEqual(['busy slot']);
  });

  it('finds an answer that no engine gave', () => {
    expect(rules(judgeSlots([], [served(plan())], calm, 50_000))).toEqual(['not executed']);
  });

  it('finds a wrong count, a missing record and a doubled one', () => {
    const found = (records: LedgerEntry[], ...faults: Struck[]): string[] =>
      rules(judgeLedger([served(plan())], records, disturbed(...faults)));
    expect(found([record()])).toEqual([]);
    for (const wrong of [[record({ completionTokens: 3 })], [record({ outcome: 'failed' })], [record(), record()], []])
      expect(found(wrong)).toEqual(['ledger']);
    expect(found([], struck('ingress-kill', 2_500, 2_600))).toEqual([]);
    expect(found([], struck('ingress-kill', 4_500, 4_600))).toEqual(['ledger']);
    // Records that a failing primary loses are written again, unless their ingress is killed before.
    const failed = struck('redis-kill', 2_500, 9_000);
    expect(found([], failed)).toEqual(['ledger']);
    expect(found([], failed, struck('ingress-kill', 8_000, 8_100))).toEqual([]);
    expect(found([], failed, struck('ingress-kill', 8_000, 8_100, 1))).toEqual(['ledger']);
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
    const poison = refusedWith(502, undefined, plan({ poison: true }));
    const death = { id: 'c1-1', worker: 'gpu-1', at: 2_000 };
    expect(judgePoison([poison], [death, death], 2)).toEqual([]);
    expect(rules(judgePoison([poison], [death, death, death], 2))).toEqual(['poison']);
  });

  it('finds a request that is blamed for the deaths of workers that it did not see', () => {
    const blamed = refusedWith(422, 'workers_died');
    expect(judgeBlame([blamed], [1_200, 1_700], calm)).toEqual([]);
    expect(rules(judgeBlame([blamed], [1_200, 2_700], calm))).toEqual(['blamed']);
    expect(judgeBlame([refusedWith(422, 'workers_died', plan({ poison: true }))], [], calm)).toEqual([]);
    const later = (...fault: Parameters<typeof struck>): string[] =>
      rules(judgeBlame([{ ...blamed, endedAt: 6_000 }], [1_200], during(...fault)));
    expect(later('worker-stop', 2_000, 5_500)).toEqual([]);
    expect(later('worker-stop', 2_000, 4_500)).toEqual(['blamed']);
    expect(later('worker-stop', 4_000, 7_500)).toEqual(['blamed']);
    expect(later('ingress-stop', 2_000, 5_500)).toEqual(['blamed']);
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
    const [done, refused] = [served(plan()), refusedWith(503)];
    const poison = refusedWith(422, undefined, plan({ poison: true }));
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
    const [start, warm] = [footprint(0, 20, 10), footprint(10_000, 100, 30)];
    expect(judgeGrowth([start, warm, footprint(40_000, 200, 40)])).toEqual([]);
    expect(rules(judgeGrowth([start, warm, footprint(40_000, 400, 90)]))).toEqual(['leftover', 'leftover']);
    // A process that has just been started loads its code.
    expect(judgeGrowth([start, footprint(9_000, 180, 60)])).toEqual([]);
    // Another process of the same name is compared with itself.
    expect(judgeGrowth([start, footprint(40_000, 400, 90), { ...footprint(60_000, 90, 30), pid: 2 }])).toEqual([]);
  });

  it('finds slow growth of memory and handles, and no peaks', () => {
    type At = (minute: number) => number;
    const found = (memory: At, handles: At): string[] => {
      const minutes = Array.from({ length: 31 }, (_, at) => at);
      return rules(judgeGrowth(minutes.map((at) => footprint(at * 60_000, memory(at), handles(at)))));
    };
    const flat = (level: number) => (minute: number) => level + (minute % 2 === 0 ? 5 : 0);
    expect(found(flat(150), flat(40))).toEqual([]);
    expect(found((minute) => (minute === 20 ? 900 : 150), flat(40))).toEqual([]);
    expect(found((minute) => 150 + 5 * minute, flat(40))).toEqual(['leftover']);
    expect(found(flat(150), (minute) => 40 + 1.2 * minute)).toEqual(['leftover']);
  });
});

it('a schedule is the same for the same seed, and differs for another seed', () => {
  expect(makeSchedule(5, 60_000)).toEqual(makeSchedule(5, 60_000));
  expect(makeSchedule(5, 60_000)).not.toEqual(makeSchedule(6, 60_000));
});

it('a schedule has each kind at least once in a minute, and 75 faults or more', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const schedule = makeSchedule(seed, 60_000);
    expect(schedule.length).toBeGreaterThanOrEqual(75);
    expect(faultNames.filter((name) => !schedule.some((fault) => fault.name === name))).toEqual([]);
  }
});

import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import type { HostedAnswer, HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import { createOpenaiErrorAnswer } from '#shared/formats/openai/error.ts';
import { modelSink } from '../../../helpers/serving/serving-parts.ts';
import { HeldBodies } from '#services/ingress/http/held-bodies.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import type { ModelSink } from '#shared/serving/serve-model.ts';
import { HostedLoop, type HostedLoopParts } from '#shared/serving/hosted/hosted-loop.ts';
import { TurnSink } from '#shared/serving/hosted/turn-sink.ts';

const callOf = (id: string): HostedCall => {
  const hosted = { kind: 'web_search' as const, title: 'web_search', param: 'tools.0' };
  return {
    id,
    hosted,
    servedTool: { name: 'find', nameAtServer: 'find', description: '', inputSchema: {} },
    input: {},
  };
};

/** An answer whose single turn makes these calls. */
function answerWith(calls: readonly HostedCall[]): HostedAnswer {
  return {
    approvedCalls: [],
    isComplete: false,
    writeNextRequest: () => Buffer.from('{}'),
    relay: () => '',
    turnBytes: 0,
    endTurn: () => calls,
    namesAddress: () => true,
    answerCall: () => '',
    finish: () => '',
    buildWholeAnswer: () => ({}),
  };
}

const counted = { tokens: 0, relay: (piece: Uint8Array) => piece };

interface Run extends Partial<Pick<HostedLoopParts, 'stream' | 'runCall'>> {
  answer: HostedAnswer;
  maxUses?: number;
  /** Serves one turn of the model, counted from 1. Default: ends it with its calls. */
  serve?: (turn: Parameters<HostedLoopParts['askModel']>[1], number: number) => void;
  /** Default: there is room for everything. */
  hold?: ModelSink['hold'];
}

/** Runs the answer with a model that makes the same calls in every turn. Counts turns and calls, and collects the client's events. */
async function run({ answer, maxUses = 10, serve = (turn) => turn.end(Buffer.alloc(0)), hold, ...rest }: Run) {
  const turns: boolean[] = [];
  const failures: RouterError[] = [];
  let [calls, asked] = [0, 0];
  const loop = await HostedLoop.begin({
    answer: Object.assign(Object.create(answer) as HostedAnswer, {
      writeNextRequest: (isLast: boolean) => {
        turns.push(isLast);
        return answer.writeNextRequest(isLast);
      },
    }),
    sink: modelSink({ fail: (error) => void failures.push(error), ...(hold && { hold }) }),
    stream: true,
    createCounter: () => ({ ...counted }),
    bounds: { max_uses: maxUses, max_ms: 10_000 },
    askModel: (_, turn) => {
      serve(turn, (asked += 1));
      return Promise.resolve({ cancel: () => undefined, fail: () => undefined, finished: Promise.resolve() });
    },
    runCall: () => {
      calls += 1;
      return Promise.resolve({ kind: 'found', results: [] });
    },
    ...rest,
  });
  await loop?.finished;
  return { turns, calls, asked, failures };
}

it('the hosted tools of an answer are called at most as often as the request allows, all tools together', async () => {
  const [search, other] = [callOf('a'), callOf('b')];
  const calls = [search, { ...other, hosted: { ...other.hosted, param: 'tools.1' } }];
  const answer = { ...answerWith(calls), maxCalls: 3 };
  expect(await run({ answer })).toMatchObject({ turns: [false, false, true], calls: 3 });
});

it('the hosted tools of an answer end in bounded turns if every call is refused', async () => {
  const { hosted, ...rest } = callOf('a');
  const input = { url: 'https://x.example/' };
  const fetches: HostedCall = { ...rest, hosted: { ...hosted, kind: 'web_fetch' }, input };
  const answer = { ...answerWith([fetches]), namesAddress: () => false };
  expect(await run({ answer, maxUses: 3 })).toMatchObject({ turns: [false, false, false, true], calls: 0 });
});

it.each([
  ['mcp', 'false'],
  ['web_search', 'true'],
] as const)(
  'an answer that fails after a call of the kind %s may be repeated by its client: %s',
  async (kind, mayRetry) => {
    const { hosted, ...rest } = callOf('a');
    const answer = answerWith([{ ...rest, hosted: { ...hosted, kind } }]);
    const serve: Run['serve'] = (turn, number) => {
      if (number === 1) turn.end(Buffer.alloc(0));
      else turn.fail(new RouterError('overloaded', 'All workers are busy.', { retryAfter: 3 }));
    };
    const { failures } = await run({ answer, stream: false, serve });
    const refusal = { headers: { 'x-should-retry': mayRetry }, body: { error: { code: 'overloaded' } } };
    expect(failures.map(createOpenaiErrorAnswer)).toMatchObject([refusal]);
  },
);

it('the hosted tools of an answer fail an answer whose turns together are too large', async () => {
  const { asked, failures } = await run({
    answer: answerWith([callOf('a')]),
    serve: (turn) => {
      try {
        turn.end(Buffer.alloc(30 * 1024 * 1024));
      } catch (error) {
        // The dispatcher does the same with a sink that throws.
        turn.fail(error instanceof RouterError ? error : new RouterError('internal', 'x'));
      }
    },
  });
  expect(asked).toBe(3);
  expect(failures.map(({ message }) => message)).toEqual(['The answer is too large.']);
});

it('what an answer with hosted tools keeps is reserved: the largest body, its turns, the outcomes and their events', async () => {
  const held = { owner: 0, process: 0 };
  let bodies = 0;
  const answer: HostedAnswer = {
    ...answerWith([callOf('a')]),
    writeNextRequest: () => Buffer.alloc((bodies += 1) * 1_000),
    turnBytes: 100_000,
    answerCall: () => 'x'.repeat(5),
  };
  const { asked, failures } = await run({
    answer,
    maxUses: 2,
    runCall: () => Promise.resolve({ kind: 'output', text: 'y'.repeat(300), isError: false }),
    hold: (bytes, bound) => void (held[bound] += bytes),
  });
  expect([asked, failures]).toEqual([3, []]);
  expect(held).toEqual({ owner: 3_000 + 2 * 300, process: 3 * 100_000 + 2 * 5 });
});

it.each([
  ['a body', { bodyBytes: 600_000, textBytes: 0, turnBytes: 0, maxTurns: 1 }],
  ['an outcome', { bodyBytes: 0, textBytes: 600_000, turnBytes: 0, maxTurns: 1 }],
  ['a turn', { bodyBytes: 0, textBytes: 0, turnBytes: 300_000, maxTurns: 4 }],
])('hosted tools that find no memory for %s end the answer with an error', async (_, sizes) => {
  const { bodyBytes, textBytes, turnBytes, maxTurns } = sizes;
  const memory = new HeldBodies(1_000_000, 10);
  const request = memory.admit({ id: 'key', ownerId: undefined, limits: [] });
  request.grow(500_000);
  const signals: AbortSignal[] = [];
  const { asked, failures } = await run({
    answer: { ...answerWith([callOf('a')]), turnBytes, writeNextRequest: () => Buffer.alloc(bodyBytes) },
    serve: (turn) => {
      try {
        turn.end(Buffer.alloc(1));
      } catch (error) {
        turn.fail(error instanceof RouterError ? error : new RouterError('internal', 'x'));
      }
    },
    runCall: (_call, signal) => {
      signals.push(signal);
      return Promise.resolve({ kind: 'output', text: 'y'.repeat(textBytes), isError: false });
    },
    hold: (bytes, bound) => request.hold(bytes, bound),
  }).catch((error: unknown) => ({ asked: 0, failures: [error] }));
  expect(failures).toEqual([errorWith('overloaded')]);
  expect(asked).toBeLessThanOrEqual(maxTurns);
  for (const { aborted } of signals) expect(aborted).toBe(true);
  request.release();
  expect(memory.bytes).toBe(0);
});

it('an answer with hosted tools goes on while other requests of its owner have the share of the owner', async () => {
  const memory = new HeldBodies(1_000_000, 10);
  const sender = { id: 'key', ownerId: undefined, limits: [] };
  const request = memory.admit(sender);
  let turnBytes = 0;
  const { failures } = await run({
    answer: {
      ...answerWith([]),
      isComplete: true,
      writeNextRequest: () => Buffer.alloc(0),
      relay: () => String((turnBytes += 100_000)),
      get turnBytes() {
        return turnBytes;
      },
    },
    serve: (turn) => {
      turn.data(Buffer.alloc(1));
      const other = memory.admit(sender);
      other.grow(400_000);
      expect(() => other.grow(1)).toThrow(errorWith('overloaded'));
      turn.end(Buffer.alloc(1));
    },
    hold: (bytes, bound) => request.hold(bytes, bound),
  });
  expect(failures).toEqual([]);
  expect(memory.bytes).toBe(600_000);
});

it('the turns of an answer with hosted tools reserve memory in steps, not for each piece', async () => {
  let [turnBytes, holds] = [0, 0];
  await run({
    answer: {
      ...answerWith([]),
      isComplete: true,
      relay: () => String((turnBytes += 100)),
      get turnBytes() {
        return turnBytes;
      },
    },
    serve: (turn) => {
      for (let pieces = 0; pieces < 1_000; pieces += 1) turn.data(Buffer.alloc(1));
      turn.end(Buffer.alloc(0));
    },
    hold: (_, bound) => void (holds += Number(bound === 'process')),
  });
  expect(holds).toBe(2);
});

it('the hosted tools of an answer fail the answer if several calls throw, and stop the others', async () => {
  const signals: AbortSignal[] = [];
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', onUnhandled);
  const { failures } = await run({
    answer: answerWith(['a', 'b', 'c'].map(callOf)),
    runCall: ({ id }, signal) => {
      signals.push(signal);
      return id === 'c' ? new Promise(() => undefined) : Promise.reject(new TypeError(`call ${id}`));
    },
  });
  // Node reports rejections without a handler once all microtasks are done.
  await new Promise(setImmediate);
  process.off('unhandledRejection', onUnhandled);
  expect(failures.map(({ code }) => code)).toEqual(['internal']);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  expect(unhandled).toEqual([]);
});

it('a turn that cannot be relayed ends with the reason, not with the failure of its job', () => {
  const relay = (): string => {
    throw new RouterError('upstream_failed', 'The upstream failed in the middle of its answer.');
  };
  const turn = new TurnSink({ sink: modelSink(), stream: true, isFirst: false, relay, counter: counted });
  expect(() => turn.data(Buffer.from('x'))).toThrow('in the middle');
  // The dispatcher does the same with a job whose sink has thrown.
  turn.fail(new RouterError('internal', 'The router failed.'));
  expect(turn.ending).toMatchObject({ code: 'upstream_failed' });
});

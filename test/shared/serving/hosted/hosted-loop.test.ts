import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import type { HostedAnswer, HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import { openaiErrorAnswer } from '#shared/formats/openai/error.ts';
import type { ModelSink } from '#shared/serving/serve-model.ts';
import { HostedLoop } from '#shared/serving/hosted/hosted-loop.ts';

const callOf = (id: string): HostedCall => {
  const hosted = { kind: 'web_search' as const, title: 'web_search', param: 'tools.0' };
  return { id, hosted, served: { name: 'find', ownName: 'find', description: '', inputSchema: {} }, input: {} };
};

/** An answer whose one turn makes these calls. */
function answerWith(calls: readonly HostedCall[]): HostedAnswer {
  return {
    approved: [],
    isComplete: false,
    next: () => Buffer.from('{}'),
    relay: () => '',
    endTurn: () => calls,
    namesAddress: () => true,
    answerCall: () => '',
    finish: () => '',
    whole: () => ({}),
  };
}

/** A sink that the client of an answer reads. */
const silentSink = (): ModelSink => ({
  relayedTokens: 0,
  begin: () => undefined,
  data: () => undefined,
  keepAlive: () => undefined,
  end: () => undefined,
  fail: () => undefined,
});

const count = () => ({ tokens: 0, relayed: (piece: Uint8Array) => piece });

/** Runs the answer with a model that makes the same calls in every turn, and counts turns and calls. */
async function runs(answer: HostedAnswer, mostUses: number): Promise<{ turns: boolean[]; calls: number }> {
  const turns: boolean[] = [];
  let calls = 0;
  const asked = { ...answer, next: (isLast: boolean) => Buffer.from(String(turns.push(isLast))) };
  const loop = await HostedLoop.begin({
    answer: asked,
    sink: silentSink(),
    stream: true,
    count,
    bounds: { max_uses: mostUses, max_ms: 10_000 },
    ask: (_, turn) => {
      turn.end(Buffer.alloc(0));
      return Promise.resolve({ cancel: () => undefined, fail: () => undefined, finished: Promise.resolve() });
    },
    call: () => {
      calls += 1;
      return Promise.resolve({ kind: 'found', results: [] });
    },
  });
  await loop?.finished;
  return { turns, calls };
}

describe('the hosted tools of an answer', () => {
  it('are called as often as the request allows, all of them together', async () => {
    const [search, other] = [callOf('a'), callOf('b')];
    const answer = {
      ...answerWith([search, { ...other, hosted: { ...other.hosted, param: 'tools.1' } }]),
      maxCalls: 3,
    };
    expect(await runs(answer, 10)).toEqual({ turns: [false, false, true], calls: 3 });
  });

  it('end in bounded turns when every call is refused', async () => {
    const { hosted, ...rest } = callOf('a');
    const fetches: HostedCall = {
      ...rest,
      hosted: { ...hosted, kind: 'web_fetch' },
      input: { url: 'https://x.example/' },
    };
    const answer = { ...answerWith([fetches]), namesAddress: () => false };
    expect(await runs(answer, 3)).toEqual({ turns: [false, false, false, true], calls: 0 });
  });

  it.each([
    ['mcp', 'false'],
    ['web_search', 'true'],
  ] as const)(
    'after which the answer fails: a client may repeat the request only without effects: %s',
    async (kind, mayRetry) => {
      const failures: RouterError[] = [];
      const { hosted, ...rest } = callOf('a');
      let turns = 0;
      const loop = await HostedLoop.begin({
        answer: answerWith([{ ...rest, hosted: { ...hosted, kind } }]),
        sink: { ...silentSink(), fail: (error) => void failures.push(error) },
        stream: false,
        count,
        bounds: { max_uses: 10, max_ms: 10_000 },
        ask: (_, turn) => {
          turns += 1;
          if (turns === 1) turn.end(Buffer.alloc(0));
          else turn.fail(new RouterError('overloaded', 'All workers are busy.', { retryAfter: 3 }));
          return Promise.resolve({ cancel: () => undefined, fail: () => undefined, finished: Promise.resolve() });
        },
        call: () => Promise.resolve({ kind: 'found', results: [] }),
      });
      await loop?.finished;
      expect(failures.map(openaiErrorAnswer)).toMatchObject([
        { headers: { 'x-should-retry': mayRetry }, body: { error: { code: 'overloaded' } } },
      ]);
    },
  );

  it('fail an answer whose turns are too large together', async () => {
    const failures: RouterError[] = [];
    let turns = 0;
    const loop = await HostedLoop.begin({
      answer: answerWith([callOf('a')]),
      sink: { ...silentSink(), fail: (error) => void failures.push(error) },
      stream: true,
      count,
      bounds: { max_uses: 10, max_ms: 10_000 },
      ask: (_, turn) => {
        turns += 1;
        try {
          turn.end(Buffer.alloc(30 * 1024 * 1024));
        } catch (error) {
          // As the dispatcher does with a sink that throws.
          turn.fail(error instanceof RouterError ? error : new RouterError('internal', 'x'));
        }
        return Promise.resolve({ cancel: () => undefined, fail: () => undefined, finished: Promise.resolve() });
      },
      call: () => Promise.resolve({ kind: 'found', results: [] }),
    });
    await loop?.finished;
    expect(turns).toBe(3);
    expect(failures.map(({ message }) => message)).toEqual(['The answer is too large.']);
  });

  it('fail the answer when several calls throw, and stop the others', async () => {
    const failures: RouterError[] = [];
    const signals: AbortSignal[] = [];
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    const sink: ModelSink = { ...silentSink(), fail: (error) => void failures.push(error) };
    process.on('unhandledRejection', onUnhandled);
    const loop = await HostedLoop.begin({
      answer: answerWith(['a', 'b', 'c'].map(callOf)),
      sink,
      stream: true,
      count,
      bounds: { max_uses: 10, max_ms: 10_000 },
      ask: (_, turn) => {
        turn.end(Buffer.alloc(0));
        return Promise.resolve({ cancel: () => undefined, fail: () => undefined, finished: Promise.resolve() });
      },
      call: ({ id }, signal) => {
        signals.push(signal);
        return id === 'c' ? new Promise(() => undefined) : Promise.reject(new TypeError(`call ${id}`));
      },
    });
    await loop?.finished;
    // Node reports rejections that nobody has handled once all microtasks are done.
    await new Promise(setImmediate);
    process.off('unhandledRejection', onUnhandled);
    expect(failures.map(({ code }) => code)).toEqual(['internal']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    expect(unhandled).toEqual([]);
  });
});

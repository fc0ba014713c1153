import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import type { HostedAnswer, HostedCall } from '#shared/formats/hosted/hosted-request.ts';
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

describe('the hosted tools of an answer', () => {
  it('fail the answer when several calls throw, and stop the others', async () => {
    const failures: RouterError[] = [];
    const signals: AbortSignal[] = [];
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    const sink: ModelSink = {
      relayedTokens: 0,
      begin: () => undefined,
      data: () => undefined,
      keepAlive: () => undefined,
      end: () => undefined,
      fail: (error) => void failures.push(error),
    };
    process.on('unhandledRejection', onUnhandled);
    const loop = await HostedLoop.begin({
      answer: answerWith(['a', 'b', 'c'].map(callOf)),
      sink,
      stream: true,
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

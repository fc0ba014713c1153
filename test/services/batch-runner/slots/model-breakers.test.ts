import { expect, it } from 'vitest';
import { PreemptedError } from '#services/batch-runner/slots/line-slots.ts';
import { ModelBreakers } from '#services/batch-runner/slots/model-breakers.ts';
import { isUpstreamLimit } from '#services/batch-runner/slots/upstream-limit.ts';
import { RouterError } from '#shared/core/errors.ts';

const limited = (retryAfter?: number) => new RouterError('rate_limit_exceeded', 'Slow down.', { retryAfter });

/** Creates a circuit breaker with this many running requests. */
function open(running: number) {
  const breaker = new ModelBreakers();
  const ends = Array.from({ length: running }, () => breaker.begin('m'));
  return { breaker, ends };
}

/** Returns the milliseconds for which no line begins after a refusal at this time. */
function waitMs(breaker: ModelBreakers, now: number, error = limited()): number {
  breaker.refused('m', error, now);
  return (breaker.limitOf('m', now)?.until ?? now) - now;
}

it('the circuit breaker of a model sets no bound until its upstream refuses a request, and applies to this model only', () => {
  const { breaker } = open(100);
  expect(breaker.mayBegin('m', 0)).toBe(true);
  breaker.refused('m', limited(), 0);
  expect([breaker.mayBegin('m', 1), breaker.mayBegin('other', 1)]).toEqual([false, true]);
  expect(breaker.limitOf('m', 1)?.reason).toBe('m takes no requests for now. Slow down.');
  expect(breaker.limitOf('other', 1)).toBeUndefined();
});

it('the circuit breaker of a model stops requests for longer with each refusal, up to ten minutes, varied by a quarter', () => {
  const { breaker } = open(1);
  let now = 1_000_000;
  for (const seconds of [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]) {
    const ms = waitMs(breaker, now);
    expect(ms).toBeGreaterThanOrEqual(seconds * 750);
    expect(ms).toBeLessThanOrEqual(seconds * 1_250 + 1);
    now += ms;
  }
});

it('the circuit breaker of a model stops requests for as long as the upstream requests, for an hour at most', () => {
  expect(waitMs(open(1).breaker, 0, limited(60))).toBeGreaterThanOrEqual(60_000);
  expect(waitMs(open(1).breaker, 0, limited(86_400))).toBeLessThanOrEqual(4_500_000);
});

it('the circuit breaker of a model counts refusals of concurrent requests once', () => {
  const { breaker } = open(8);
  const first = waitMs(breaker, 1_000);
  for (let at = 0; at < 7; at += 1) breaker.refused('m', limited(), 1_001);
  expect(first).toBeLessThanOrEqual(2_501);
  expect((breaker.limitOf('m', 1_000)?.until ?? 0) - 1_000).toBeLessThanOrEqual(2_502);
});

it('the circuit breaker of a model halves the concurrent requests afterwards, and adds one each time that as many were answered', () => {
  const { breaker, ends } = open(4);
  const now = Date.now();
  breaker.refused('m', limited(), now);
  for (const end of ends) end();
  const mayRun = (): number => {
    const begun: (() => void)[] = [];
    while (breaker.mayBegin('m', now + 20_000)) begun.push(breaker.begin('m'));
    for (const end of begun) end();
    return begun.length;
  };
  expect(mayRun()).toBe(2);
  breaker.answered('m');
  expect(mayRun()).toBe(2);
  breaker.answered('m');
  expect(mayRun()).toBe(3);
  for (let at = 0; at < 3; at += 1) breaker.answered('m');
  expect(mayRun()).toBe(4);
});

it('an error is a limit of the upstream when it refuses work for now', () => {
  const errors = [limited(), new RouterError('overloaded', 'Busy.'), new RouterError('upstream_failed', 'Broken.')];
  expect([...errors, new PreemptedError()].map(isUpstreamLimit)).toEqual([true, true, false, false]);
});

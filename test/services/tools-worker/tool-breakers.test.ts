import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ToolInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobHandler } from '#shared/broker/contract/job-contract.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import { ToolBreakers } from '#services/tools-worker/tool-breakers.ts';
import { jobDone } from '../../helpers/broker/job-done.ts';
import { silentLog } from '../../helpers/silent-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tools = ['search', 'other'].map((name): ToolInfo => ({ name, description: '', inputSchema: {} }));
const never = new AbortController().signal;

/** Starts a circuit breaker, and calls whose outcomes the test decides. */
function start() {
  const breaker = new ToolBreakers(silentLog, () => undefined);
  const calls: PromiseWithResolvers<void>[] = [];
  const handler: JobHandler = async () => {
    const call = Promise.withResolvers<void>();
    calls.push(call);
    await call.promise;
    return jobDone;
  };
  const watched = breaker.limitCalls(handler);
  /** Begins a call. Resolves with its error's code, or `served`. */
  const call = (name = 'search', signal = never): Promise<string> =>
    watched({ model: name } as GrantedJob, { addHeaders: () => undefined, write: () => undefined }, signal).then(
      () => 'served',
      (error: unknown) => (error instanceof RouterError ? error.code : String(error)),
    );
  const fail = async (code: ErrorCode = 'upstream_failed', name = 'search'): Promise<void> => {
    const called = call(name);
    calls.at(-1)?.reject(new RouterError(code, 'It failed.'));
    expect(await called).toBe(code);
  };
  const offered = () => breaker.selectAccepting(tools).map(({ name }) => name);
  /** Makes a tool fail until it is not announced, and waits until its pause is over. */
  const pause = async (): Promise<void> => {
    for (let at = 0; at < 3; at += 1) await fail();
    vi.advanceTimersByTime(1_300);
  };
  return { breaker, calls, call, fail, pause, offered };
}

it('a tool whose server fails three calls in a row is not announced, other tools are, and one call shows that it works', async () => {
  const { breaker, calls, call, fail, offered } = start();
  await fail();
  await fail();
  expect(offered()).toEqual(['search', 'other']);
  await fail();
  expect(offered()).toEqual(['other']);
  expect(breaker.failing).toEqual(['search']);
  vi.advanceTimersByTime(1_300);
  expect(offered()).toEqual(['search', 'other']);
  const probe = call();
  expect(offered()).toEqual(['other']);
  calls.at(-1)?.resolve();
  expect(await probe).toBe('served');
  expect(offered()).toEqual(['search', 'other']);
  expect(breaker.failing).toEqual([]);
});

it('calls that arrive during a probe of a tool wait for it and fail with it, and the next probe comes later', async () => {
  const { calls, call, pause, offered } = start();
  await pause();
  const probe = call();
  const others = [call(), call()];
  expect(calls).toHaveLength(4);
  calls.at(-1)?.reject(new RouterError('upstream_failed', 'It failed.'));
  expect(await Promise.all([probe, ...others])).toEqual(Array(3).fill('upstream_failed'));
  expect(calls).toHaveLength(4);
  vi.advanceTimersByTime(1_300);
  expect(offered()).toEqual(['other']);
  vi.advanceTimersByTime(1_300);
  expect(offered()).toEqual(['search', 'other']);
});

it('calls that wait for a probe of a tool run when it is served; without a result of the probe, the next call is a probe', async () => {
  const { calls, call, pause, offered } = start();
  await pause();
  const refused = call();
  const [second, third] = [call(), call()];
  calls.at(-1)?.reject(new RouterError('invalid_request', 'The input is wrong.'));
  expect(await refused).toBe('invalid_request');
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toHaveLength(5);
  expect(offered()).toEqual(['other']);
  calls.at(-1)?.resolve();
  expect(await second).toBe('served');
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toHaveLength(6);
  calls.at(-1)?.resolve();
  expect(await third).toBe('served');
});

it('a call that waits for a probe of a tool ends when its client is gone', async () => {
  const { calls, call, pause } = start();
  await pause();
  const probe = call();
  const client = new AbortController();
  const waiting = call('search', client.signal);
  client.abort(new Error('gone'));
  expect(await waiting).toBe('Error: gone');
  expect(await call('search', client.signal)).toBe('Error: gone');
  expect(calls).toHaveLength(4);
  calls.at(-1)?.resolve();
  expect(await probe).toBe('served');
});

it('wrong inputs, calls that take too long, and failures with an answer in between do not stop calls of a tool', async () => {
  const { calls, call, fail, offered } = start();
  for (let at = 0; at < 5; at += 1) await fail('invalid_request');
  for (let at = 0; at < 5; at += 1) await fail('upstream_timeout');
  for (let at = 0; at < 5; at += 1) {
    await fail();
    await fail();
    const served = call();
    calls.at(-1)?.resolve();
    expect(await served).toBe('served');
  }
  await fail('upstream_failed', 'other');
  expect(offered()).toEqual(['search', 'other']);
});

import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { TokenRetry } from '#shared/serving/connected/token-retry.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { modelSink } from '../../../helpers/serving/serving-parts.ts';
import { until } from '../../../helpers/until.ts';

/** A call whose first token is refused. The test decides when the second call begins. */
function open() {
  const failures: string[] = [];
  const [first, token] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const second = { isFetched: false, failures: [] as string[] };
  const retry = new TokenRetry(modelSink({ fail: ({ code }) => void failures.push(code) }), {
    repeat: async (sink): Promise<RunningRequest> => {
      second.isFetched = true;
      await token.promise;
      const ended = Promise.withResolvers<void>();
      const fail = (error: RouterError): void => {
        second.failures.push(error.code);
        sink.fail(error);
        ended.resolve();
      };
      return { cancel: () => ended.resolve(), fail, finished: ended.promise };
    },
    finalError: () => new RouterError('connection_required', 'The link has expired.'),
  });
  const ignore = (): undefined => undefined;
  const running = retry.follow({ cancel: ignore, fail: ignore, finished: first.promise });
  if (!running) throw new Error('the call does not run');
  retry.firstSink.fail(new RouterError('connection_required', 'The token is refused.'));
  return { running, failures, second, endFirst: () => first.resolve(), findToken: () => token.resolve() };
}

const unreadable = new RouterError('internal', 'The answer could not be read.');

it('a call that fails while its second call is being made fails once that call runs', async () => {
  const { running, failures, second, endFirst, findToken } = open();
  endFirst();
  await until(() => second.isFetched);
  running.fail(unreadable);
  findToken();
  await running.finished;
  expect([failures, second.failures]).toEqual([['internal'], ['internal']]);
});

it('a call that fails before its second call is made has no second call', async () => {
  const { running, failures, second, endFirst } = open();
  running.fail(unreadable);
  endFirst();
  await running.finished;
  expect([failures, second.isFetched]).toEqual([['internal'], false]);
});

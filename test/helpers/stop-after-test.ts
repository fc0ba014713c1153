import { onTestFinished } from 'vitest';

/** Stops a started object after the running test. */
export function stopAfterTest<Started extends { stop: () => unknown } | { close: () => unknown }>(
  started: Started,
): Started {
  onTestFinished(async () => {
    await ('stop' in started ? started.stop() : started.close());
  });
  return started;
}

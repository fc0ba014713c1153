import { onTestFinished } from 'vitest';

/** Has what was started stop when the running test is over. */
export function stopAfterTest<Started extends { stop: () => unknown } | { close: () => unknown }>(
  started: Started,
): Started {
  onTestFinished(async () => {
    await ('stop' in started ? started.stop() : started.close());
  });
  return started;
}

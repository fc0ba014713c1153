import { onTestFinished, vi } from 'vitest';

/** Sets the clock of this process forward, until the running test has ended. Those of others, such as Redis, go on as they are. */
export function passTime(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  onTestFinished(() => void vi.useRealTimers());
}

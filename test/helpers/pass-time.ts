import { onTestFinished, vi } from 'vitest';

/** Sets the clock of this process forward, until the end of the running test. Clocks of others, such as Redis, do not change. */
export function passTime(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  onTestFinished(() => void vi.useRealTimers());
}

import type { Page } from 'playwright-core';
import { shareBrowser } from './open-browser.ts';

/** An event of Chromium's trace. `tdur` is processor time of the thread, in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  args?: { name?: string };
}

/**
 * Measures the longest task of a page's main thread during `act`, in milliseconds of processor time: wall time would include other programs
 * of this machine.
 */
export async function longestTask(page: Page, act: () => Promise<unknown>): Promise<number> {
  const browser = await shareBrowser();
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', '__metadata'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const mains = new Set(traceEvents.flatMap((each) => (each.args?.name === 'CrRendererMain' ? [threadOf(each)] : [])));
  const tasks = traceEvents.filter((each) => each.name === 'RunTask' && mains.has(threadOf(each)));
  if (tasks.length < 20) throw new Error(`the trace has ${tasks.length} tasks only`);
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1_000));
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`;
}

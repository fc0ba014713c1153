import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServingReport } from '#services/rtr/box/serving-report.ts';

const engine = (name: string) => ({ name, isEngine: true, models: undefined });

let said: string[];
let serving: Set<string>;
let models: string[];
let report: ServingReport;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  said = [];
  serving = new Set();
  models = ['m1', 'm2'];
  report = new ServingReport({
    name: 'joes-box',
    isServing: (worker) => Promise.resolve(serving.has(worker)),
    listModels: (worker) => Promise.resolve(worker.isEngine ? models : worker.models),
    say: (text) => void said.push(text),
  });
});
afterEach(() => void vi.useRealTimers());

describe('the report of a box', () => {
  it('counts each model once, and names what else it serves', async () => {
    for (const name of ['http://a', 'http://b']) report.add(`gpu-worker ${name}`, engine(name));
    report.add('cli-worker claude', { name: 'claude', isEngine: false, models: ['opus'] });
    serving = new Set(['gpu-worker http://a', 'gpu-worker http://b', 'cli-worker claude']);
    await report.reportJoined(new AbortController().signal);
    expect(said).toEqual(['joined as joes-box, 2 engines, claude, 3 models']);
    expect(report.isWaiting).toBe(false);
  });

  it('does not wait longer than 15 seconds for a worker, names it, and says once when it serves', async () => {
    for (const name of ['http://a', 'http://b']) report.add(`gpu-worker ${name}`, engine(name));
    serving.add('gpu-worker http://a');
    const reported = report.reportJoined(new AbortController().signal);
    vi.advanceTimersByTime(15_001);
    await reported;
    expect(said).toEqual([
      'joined as joes-box, 1 engine, 2 models',
      'http://b is not served yet: it does not answer, or the lines above tell why.',
    ]);
    await report.reportLater();
    serving.add('gpu-worker http://b');
    models = ['1', '2', '3', '4', '5', '6', '7'];
    await report.reportLater();
    await report.reportLater();
    expect(said.slice(2)).toEqual(['http://b is served now: 7 models: 1, 2, 3, 4, 5 and 2 more']);
  });
});

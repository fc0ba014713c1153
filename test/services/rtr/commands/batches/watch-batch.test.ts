import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ProgressRate } from '#shared/core/progress-rate.ts';
import type { BatchObject } from '#services/rtr/commands/batches/batch-object.ts';
import { formatOutcome, formatProgress, watchBatch } from '#services/rtr/commands/batches/watch-batch.ts';
import { ProgressBar } from '#services/rtr/commands/client/progress-bar.ts';
import { clientOfServer } from '../../../../helpers/batches/client-of-server.ts';

const now = Date.UTC(2026, 10, 24);

function batch(change: Partial<BatchObject>): BatchObject {
  const times = { created_at: now / 1_000 - 60, in_progress_at: now / 1_000 - 50, expires_at: null };
  const files = { output_file_id: null, error_file_id: null };
  const facts = { id: 'batch_1', endpoint: '/v1/chat/completions', status: 'in_progress' } as const;
  return { ...facts, ...times, ...files, request_counts: counts(5_000, 1_247, 3), ...change };
}

function counts(total: number, completed: number, failed = 0): BatchObject['request_counts'] {
  return { total, completed, failed };
}

function rate(done: number): ProgressRate {
  const measured = new ProgressRate(now - 50_000);
  measured.addSample(done, now);
  return measured;
}

describe('the progress text of a batch', () => {
  it('has numbers, the rate and the time that is left', () => {
    const text = '1,250 of 5,000 (25 %), 3 failed · 25 a second · about 3 min left';
    expect(formatProgress(batch({}), rate(1_250), now)).toBe(text);
    const slow = batch({ request_counts: counts(5_000, 5) });
    expect(formatProgress(slow, rate(5), now)).toBe('5 of 5,000 (0 %) · 6 a minute · about 13 h 53 min left');
    const late = { ...slow, expires_at: now / 1_000 + 7_200 };
    expect(formatProgress(late, rate(5), now)).toMatch(/ about 13 h 53 min left, but it expires in 2 h 0 min$/);
    expect(formatProgress(slow, rate(0), now)).toBe('5 of 5,000 (0 %)');
  });

  it('names the reason of a wait, and the step before and after its lines are run', () => {
    const paused = batch({ paused: { reason: 'The budget of the day is used up.' } });
    expect(formatProgress(paused, rate(1_250), now)).toMatch(
      /^1,250 of .* · waits: The budget of the day is used up\.$/,
    );
    const fresh = batch({ status: 'validating', request_counts: counts(0, 0) });
    expect(formatProgress(fresh, undefined, now)).toBe('validating');
    expect(formatProgress(batch({ status: 'cancelling' }), rate(1_250), now)).toMatch(/ · cancelling$/);
  });
});

describe('a batch that is watched', () => {
  /**
   * Watches a batch of a server that gives these answers, one after the other.
   * @returns the drawn and the printed lines
   */
  async function watched(answers: readonly (Partial<BatchObject> | 503)[], json = false) {
    const left = [...answers];
    const client = await clientOfServer((_, response) => {
      const answer = left.shift() ?? 404;
      if (typeof answer === 'number') response.statusCode = answer;
      response.end(typeof answer === 'number' ? '{}' : JSON.stringify(batch(answer)));
    });
    const drawn: string[] = [];
    const printed: string[] = [];
    const bar = new ProgressBar({ write: (text: string) => drawn.push(text) > 0 });
    const print = (line: string): void => void printed.push(line);
    const failure = await watchBatch({ client, bar, print, json }, 'batch_1', 1).catch((error: unknown) => error);
    return { drawn: drawn.join(''), printed, failure, left };
  }

  const over: Partial<BatchObject> = { status: 'completed', request_counts: counts(100, 100) };

  it('is shown with its rate from the first answer on, and with each change of its state', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now });
    onTestFinished(() => void vi.useRealTimers());
    const running = { in_progress_at: now / 1_000 - 100, request_counts: counts(100, 50) };
    const fresh = { status: 'validating', in_progress_at: null, request_counts: counts(0, 0) } as const;
    const paused = { ...running, paused: { reason: 'The budget is used up.' } };
    const { drawn, printed, failure, left } = await watched([fresh, running, running, paused, 503, over]);
    expect({ failure, left }).toEqual({ failure: undefined, left: [] });
    const first = 'validating\n50 of 100 (50 %) · 30 a minute · about 2 min left\n';
    expect(drawn.slice(0, first.length)).toBe(first);
    const later = /^50 .* · waits: The budget is used up\.\nThe router answered with status 503\.\n$/;
    expect(drawn.slice(first.length)).toMatch(later);
    expect(printed).toEqual([expect.stringMatching(/^Batch batch_1 is complete: 100 of 100 answered, /)]);
  });

  it('is printed as JSON whenever it has changed', async () => {
    const { drawn, printed, failure } = await watched([{}, {}, over], true);
    expect(failure).toBeUndefined();
    expect(drawn).toBe('');
    expect(printed.map((line) => (JSON.parse(line) as BatchObject).status)).toEqual(['in_progress', 'completed']);
  });

  it('fails when it does not complete', async () => {
    const { printed, failure } = await watched([{ ...over, status: 'expired' }]);
    expect(String(failure)).toContain('Batch batch_1 has expired: 100 of 100 answered');
    expect(printed).toEqual([]);
  });
});

describe('the outcome text of a batch', () => {
  it('has its numbers, and the command that fetches its results', () => {
    const usage = { input_tokens: 1_000, output_tokens: 234 };
    const ended = { status: 'completed', output_file_id: 'file-1', request_counts: counts(3, 2, 1) } as const;
    const results = 'Fetch the results with: rtr batches download batch_1';
    expect(formatOutcome(batch({ ...ended, usage }))).toBe(
      `Batch batch_1 is complete: 2 of 3 answered, 1 failed, 1,234 tokens. ${results}`,
    );
    expect(formatOutcome(batch({ status: 'cancelled' }))).toMatch(
      /was cancelled: 1,247 of 5,000 answered, 3 failed\.$/,
    );
    const errors = { data: [{ message: 'The input was lost.', line: null }] };
    expect(formatOutcome(batch({ status: 'cancelled', errors }))).toMatch(/3 failed\. The input was lost\.$/);
  });

  it('names the first mistakes of an input that is not valid', () => {
    const data = Array.from({ length: 7 }, (_, at) => ({
      message: "Invalid 'method': it must be POST.",
      line: at + 1,
    }));
    expect(formatOutcome(batch({ status: 'failed', errors: { data } })).split('\n')).toEqual([
      'Batch batch_1 has failed, and none of its requests was run:',
      ...[1, 2, 3, 4, 5].map((line) => `line ${line}: Invalid 'method': it must be POST.`),
      '… and 2 more',
    ]);
  });
});

describe('the progress bar', () => {
  function drawn(draw: (bar: ProgressBar) => void, terminal: { isTTY?: boolean; columns?: number }): string[] {
    const written: string[] = [];
    draw(new ProgressBar({ write: (text: string) => written.push(text) > 0, ...terminal }));
    return written;
  }

  it('is redrawn on one line of a terminal, which it does not exceed, and is removed at the end', () => {
    const draw = (bar: ProgressBar): void => {
      bar.show(0.5, 'half');
      bar.show(2, 'x'.repeat(100));
      bar.end();
      bar.end();
    };
    const written = drawn(draw, { isTTY: true, columns: 60 });
    const half = `\r\u001B[K[${'#'.repeat(12)}${'-'.repeat(12)}] half`;
    expect(written).toEqual([half, `\r\u001B[K[${'#'.repeat(24)}] ${'x'.repeat(32)}`, '\r\u001B[K']);
    const begun = drawn((bar) => bar.show(0, 'begins'), { isTTY: true, columns: 0 });
    expect(begun).toEqual([`\r\u001B[K[${'-'.repeat(24)}] begins`]);
  });

  it('is a line for each tenth and each stage elsewhere', () => {
    const written = drawn((bar) => {
      for (let share = 0; share <= 1; share += 0.04) bar.show(share, `${Math.floor(share * 10)}`);
    }, {});
    expect(written).toEqual(['0\n', '1\n', '2\n', '3\n', '4\n', '5\n', '6\n', '7\n', '8\n', '9\n']);
    const staged = drawn((bar) => {
      for (const stage of ['runs', 'waits', 'waits', 'runs']) bar.show(0.5, stage, stage);
    }, {});
    expect(staged).toEqual(['runs\n', 'waits\n', 'runs\n']);
  });
});

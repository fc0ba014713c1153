import { expect, it } from 'vitest';
import { RefusedLines } from '#services/batch-runner/lines/refused-lines.ts';
import { RouterError } from '#shared/core/errors.ts';

const limited = new RouterError('rate_limit_exceeded', 'Slow down.');

it('a line that is refused repeatedly is tried more and more rarely, while other lines are not slowed down', () => {
  const lines = new RefusedLines();
  const waits = [0, 100_000, 200_000].map((now) => {
    lines.noteRefusal('batch_1_0_7', 'm', limited, now);
    return (lines.findLimit('batch_1_0_7', now)?.until ?? now) - now;
  });
  expect(waits[0]).toBeLessThan(waits[1] ?? 0);
  expect(waits[1]).toBeLessThan(waits[2] ?? 0);
  expect(lines.findLimit('batch_1_0_7', 300_000)).toBeUndefined();
  expect(lines.findLimit('batch_1_0_8', 200_000)).toBeUndefined();
  lines.remove('batch_1_0_7');
  expect(lines.findLimit('batch_1_0_7', 200_000)).toBeUndefined();
});

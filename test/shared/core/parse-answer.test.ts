import { expect, it } from 'vitest';
import { parseAnswer } from '#shared/core/has-more-values.ts';

it('an answer with many values is read, and one whose lists would fill the memory is not', () => {
  const numbers = JSON.stringify(Array.from({ length: 1_000_000 }, (_, at) => at));
  expect(parseAnswer(Buffer.from(numbers))).toHaveLength(1_000_000);
  const before = process.memoryUsage().rss;
  expect(parseAnswer(Buffer.from(`[${'[],'.repeat(19_000_000)}1]`))).toBeUndefined();
  expect(parseAnswer(`[${'[],'.repeat(600_000)}1]`)).toBeUndefined();
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  expect(parseAnswer('{"a":')).toBeUndefined();
});

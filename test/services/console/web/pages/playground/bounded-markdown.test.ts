import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { BoundedMarkdown } from '#services/console/web/pages/playground/bounded-markdown.ts';

/** Takes a millisecond for the first thousand characters, four for two thousand, and so on; a text with `!` is refused. */
function render(text: string): string {
  if (text.includes('!')) throw new Error('refused');
  vi.advanceTimersByTime((text.length / 1_000) ** 2);
  return `<${text.length}>`;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

it('a text is rendered, also while it grows', () => {
  const markdown = new BoundedMarkdown(render);
  for (const length of [0, 1, 999, 1_001, 3_000, 3_001])
    expect(markdown.render('a'.repeat(length))).toBe(`<${length}>`);
});

it('a text that would take minutes is given up after a bounded time, and so is every continuation of it', () => {
  const markdown = new BoundedMarkdown(render);
  const begunAt = performance.now();
  expect(markdown.render('a'.repeat(300_000))).toBeUndefined();
  expect(markdown.render('a'.repeat(300_001))).toBeUndefined();
  expect(performance.now() - begunAt).toBeLessThan(5_000);
});

it('a text that would take minutes is given up also while it grows', () => {
  const markdown = new BoundedMarkdown(render);
  let longest = 0;
  for (let length = 1_000; length < 100_000; length += 4_000) {
    const begunAt = performance.now();
    markdown.render('a'.repeat(length));
    longest = Math.max(longest, performance.now() - begunAt);
  }
  expect(markdown.render('a'.repeat(100_000))).toBeUndefined();
  expect(longest).toBeLessThan(2_500);
});

it('a text is rendered in place of a slow one, and in place of one that cannot be rendered', () => {
  const markdown = new BoundedMarkdown(render);
  expect(markdown.render('a'.repeat(300_000))).toBeUndefined();
  expect(markdown.render('b')).toBe('<1>');
  expect(markdown.render('b!')).toBeUndefined();
  expect(markdown.render('c')).toBe('<1>');
});

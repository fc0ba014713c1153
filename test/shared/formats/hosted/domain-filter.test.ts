import { describe, expect, it } from 'vitest';
import { domainFilter } from '#shared/formats/hosted/domain-filter.ts';

describe('the domains of a hosted tool', () => {
  it('are all without a list', () => {
    expect(domainFilter(undefined, null)).toBeUndefined();
    expect(domainFilter([], [])).toBeUndefined();
  });

  it.each([
    ['https://example.com/', true],
    ['https://docs.example.com/a', true],
    ['https://notexample.com/', false],
    ['https://example.com.evil.example/', false],
    ['https://site.example/blog/1', true],
    ['https://site.example/shop', false],
    ['no address', false],
  ])('are those that are allowed: %s', (url, isAllowed) => {
    expect(domainFilter(['example.com', 'https://site.example/blog'], undefined)?.(url)).toBe(isAllowed);
  });

  it('are not those that are blocked', () => {
    const allows = domainFilter(undefined, ['example.com']);
    expect(['https://a.example.com/', 'https://other.example/'].map((url) => allows?.(url))).toEqual([false, true]);
  });
});

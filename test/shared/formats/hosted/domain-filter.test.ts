import { describe, expect, it } from 'vitest';
import { createDomainFilter } from '#shared/formats/hosted/domain-filter.ts';

describe('the domains of a hosted tool', () => {
  it('include every domain without a list', () => {
    expect(createDomainFilter(undefined, null)).toBeUndefined();
    expect(createDomainFilter([], [])).toBeUndefined();
  });

  it.each([
    ['https://example.com/', true],
    ['https://docs.example.com/a', true],
    ['https://notexample.com/', false],
    ['https://example.com.evil.example/', false],
    ['https://site.example/blog/1', true],
    ['https://site.example/BLOG', true],
    ['https://site.example/shop', false],
    ['https://site.example/blogger', false],
    ['https://wild.example/a/b/posts/1', true],
    ['https://wild.example/a/posts/posts', true],
    ['https://wild.example/a/postscript', false],
    ['https://all.example/any', true],
    ['https://bücher.example/', true],
    ['https://xn--bcher-kva.example/', true],
    ['no address', false],
  ])('include only the allowed domains: %s', (url, isAllowed) => {
    const places = ['https://site.example/blog', 'wild.example/a*/posts', 'all.example/*'];
    const allowed = ['example.com', ...places, 'Bücher.example'];
    expect(createDomainFilter(allowed, undefined)?.(url)).toBe(isAllowed);
  });

  it('exclude the blocked domains', () => {
    const allows = createDomainFilter(undefined, ['example.com']);
    const urls = ['https://a.example.com/', 'https://example.com./', 'https://other.example/'];
    expect(urls.map((url) => allows?.(url))).toEqual([false, false, true]);
  });
});

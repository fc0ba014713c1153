import { describe, expect, it } from 'vitest';
import { createDomainFilter } from '#shared/formats/hosted/domain-filter.ts';
import { errorWith } from '../../../helpers/error-with.ts';

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

  it.each(['example.com', 'example.com.', '.example.com', '*.example.com', 'HTTPS://Example.com/'])(
    'exclude the blocked domains: %s',
    (blocked) => {
      const allows = createDomainFilter(undefined, [blocked]);
      const urls = ['https://a.example.com/', 'https://example.com./', 'https://other.example/'];
      expect(urls.map((url) => allows?.(url))).toEqual([false, false, true]);
    },
  );

  it('cover one port if an entry names it', () => {
    const entries = ['example.com:8080', 'tls.example:443', '[::1]:80'];
    const covered = [
      'http://example.com:8080/a',
      'https://a.example.com:8080/',
      'https://tls.example/',
      'http://[::1]/',
    ];
    const others = ['https://example.com/', 'http://tls.example/', 'http://[::1]:8080/'];
    for (const [allowed, blocked] of [
      [entries, undefined],
      [undefined, entries],
    ]) {
      const allows = createDomainFilter(allowed, blocked);
      expect(covered.map((url) => allows?.(url))).toEqual(covered.map(() => allowed !== undefined));
      expect(others.map((url) => allows?.(url))).toEqual(others.map(() => allowed === undefined));
    }
  });

  it('have at most a thousand entries', () => {
    const entries = Array.from({ length: 1_001 }, (_, at) => `d${at}.example`);
    expect(() => createDomainFilter(undefined, entries)).toThrow(errorWith('invalid_request'));
    expect(createDomainFilter(undefined, entries.slice(1))?.('https://d0.example/')).toBe(true);
  });

  it.each(['exa mple.com', 'https://', 'user@example.com', 'example.com:port'])(
    'are refused with an entry that is not a domain: %s',
    (entry) => {
      const refusal = errorWith('invalid_request', { message: expect.stringContaining(entry) });
      expect(() => createDomainFilter([entry], undefined)).toThrow(refusal);
      expect(() => createDomainFilter(undefined, [entry])).toThrow(refusal);
    },
  );
});

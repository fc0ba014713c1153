import { expect, it } from 'vitest';
import { linkForSite } from '#services/console/build/docs-pages.ts';

it.each([
  ['README.md', '[Keys](docs/accounts.md#keys)', '[Keys](./accounts.md#keys)'],
  ['README.md', '![bars](docs/performance.svg)', '![bars](./performance.svg)'],
  ['docs/api.md', '[Keys](accounts.md)', '[Keys](./accounts.md)'],
  ['docs/api.md', '[README](../README.md#use-it)', '[README](./index.md#use-it)'],
  ['docs/api.md', '[0007](decisions/0007-node-flags.md)', '[0007](./decisions/0007-node-flags.md)'],
  ['docs/decisions/0007-node-flags.md', '[all](README.md)', '[all](./index.md)'],
  ['docs/decisions/0007-node-flags.md', '[API](../api.md)', '[API](../api.md)'],
  ['docs/api.md', '[below](#errors), [SSE](https://example.com/a)', '[below](#errors), [SSE](https://example.com/a)'],
])('on the site, %s links with %s as %s', (source, text, expected) => {
  expect(linkForSite(source, text)).toBe(expected);
});

it('on the site, a link to a source becomes its text, because the site has no sources', () => {
  const text = '[`errors.ts`](../shared/core/errors.ts) and [NATS](../deploy/nats.conf)';
  expect(linkForSite('docs/api.md', text)).toBe(
    '<span class="source" title="shared/core/errors.ts">`errors.ts`</span> and <span class="source" title="deploy/nats.conf">NATS</span>',
  );
});

it('on the site, code stays as it is', () => {
  const text = 'See:\n\n```md\n[Keys](docs/accounts.md)\n```\n';
  expect(linkForSite('README.md', text)).toBe(text);
});

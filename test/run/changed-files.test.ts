import { expect, it } from 'vitest';
import { browserTestsOf } from './changed-files.ts';

it.each([
  { file: 'services/console/web/pages/usage/usage.tsx', test: 'test/long/console/usage-page.test.ts' },
  { file: 'services/console/web/pages/requests/log-page.tsx', test: 'test/long/console/requests.test.ts' },
  { file: 'services/console/web/pages/sign-in.tsx', test: 'test/long/console/sign-in.test.ts' },
  { file: 'services/console/web/pages/admin/registry/registry.tsx', test: 'test/long/console/registry.test.ts' },
])('a change of $file selects the browser test $test', ({ file, test }) => {
  expect(browserTestsOf([file])).toContain(test);
});

it('a change outside of the pages selects no browser test', () => {
  expect(browserTestsOf(['services/console/api/usage.ts', 'README.md'])).toEqual([]);
});

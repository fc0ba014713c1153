import { expect, it } from 'vitest';
import { toMcpAccountLink } from '#shared/connections/mcp-account-links.ts';

const grantor = {} as Parameters<typeof toMcpAccountLink>[2];

it.each([
  [3_600, 3_600_000],
  [1e306, 10 * 365 * 86_400_000],
  [0, undefined],
  [undefined, undefined],
])('a token whose server says that it expires in %s seconds is valid for %s ms', (seconds, ms) => {
  const tokens = { access_token: 'a', token_type: 'Bearer', expires_in: seconds };
  const { expiresAt, refreshedAt } = toMcpAccountLink(tokens, { url: 'https://mcp.test', connectedAt: 1 }, grantor);
  expect(expiresAt).toBe(ms === undefined ? undefined : refreshedAt + ms);
});

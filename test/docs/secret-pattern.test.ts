import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatAdminToken } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import { generateId, generateKey } from '#shared/accounts/keys/generate-key.ts';
import { keyKinds } from '#shared/accounts/keys/key-format.ts';
import { generateToken } from '#shared/accounts/people/secret-token.ts';
import { RefreshTokens } from '#shared/accounts/sign-in/programs/refresh-token.ts';

const [, documented = ''] = /```\n(\S*rtr_\S+)\n```/.exec(readFileSync('SECURITY.md', 'utf8')) ?? [];
const refreshTokens = new RefreshTokens(() => [randomBytes(32)]);

it('the pattern in SECURITY.md finds every secret that the router makes for people and programs, whole', () => {
  for (let time = 0; time < 1_000; time += 1) {
    const secrets = [
      ...keyKinds.map((kind) => generateKey(kind).rawKey),
      formatAdminToken(generateId(), generateToken()),
      formatAdminToken(generateId(), generateToken()).slice(0, -7),
      refreshTokens.write({ programId: generateId(), generation: time }) ?? '',
    ];
    const text = secrets.map((secret) => `export RTR_KEY="${secret}"; echo rtr_open_requests`).join('\n');
    expect([...text.matchAll(new RegExp(documented, 'g'))].map(([found]) => found)).toEqual(secrets);
  }
});

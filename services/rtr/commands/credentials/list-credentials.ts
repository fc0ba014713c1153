import { isValid } from '#shared/broker/authority/issue-credential.ts';
import type { IssuedCredential } from '#shared/broker/authority/authority.ts';
import { readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { dateOf } from '../date-of.ts';

export interface ListOptions {
  from: string;
  json: boolean;
  print: (line: string) => void;
}

/** `rtr credentials list`: lists every credential ever created, oldest first; with `json`, one object per line. */
export function listCredentials({ from, json, print }: ListOptions): void {
  const { issued } = readAuthority(from);
  const rows = issued.map((one) => ({
    name: one.name,
    role: one.role,
    made: dateOf(one.issuedAt),
    expires: one.expiresAt === undefined ? null : dateOf(one.expiresAt),
    state: stateOf(one),
  }));
  if (json) for (const row of rows) print(JSON.stringify(row));
  else {
    const widest = Math.max(...rows.map(({ name }) => name.length), 4);
    print(`${'NAME'.padEnd(widest)}  ROLE     MADE        EXPIRES     STATE`);
    for (const { name, role, made, expires, state } of rows)
      print(`${name.padEnd(widest)}  ${role.padEnd(7)}  ${made}  ${(expires ?? 'never').padEnd(10)}  ${state}`);
  }
}

function stateOf(one: IssuedCredential): 'valid' | 'revoked' | 'expired' {
  if (one.revokedAt !== undefined) return 'revoked';
  return isValid(one, Date.now()) ? 'valid' : 'expired';
}

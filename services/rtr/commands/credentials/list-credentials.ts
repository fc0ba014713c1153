import { isValid } from '#shared/broker/authority/credentials.ts';
import { isShared, type IssuedCredential } from '#shared/broker/authority/authority.ts';
import { readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { formatDate } from '../table-lines.ts';

export interface ListOptions {
  authorityFolder: string;
  json: boolean;
  print: (line: string) => void;
}

/** `rtr credentials list`: lists every credential ever created, oldest first; with `json`, one object per line. */
export function listCredentials({ authorityFolder, json, print }: ListOptions): void {
  const { issued } = readAuthority(authorityFolder);
  const rows = issued.map((credential) => ({
    name: credential.name,
    role: credential.role,
    shared: isShared(credential),
    made: formatDate(credential.issuedAt),
    expires: credential.expiresAt === undefined ? null : formatDate(credential.expiresAt),
    state: findState(credential),
  }));
  if (json) for (const row of rows) print(JSON.stringify(row));
  else {
    const widest = Math.max(...rows.map(({ name }) => name.length), 4);
    print(`${'NAME'.padEnd(widest)}  ROLE     SHARED  MADE        EXPIRES     STATE`);
    for (const { name, role, shared, made, expires, state } of rows)
      print(
        `${name.padEnd(widest)}  ${role.padEnd(7)}  ${(shared ? 'yes' : 'no').padEnd(6)}  ${made}  ${(expires ?? 'never').padEnd(10)}  ${state}`,
      );
  }
}

function findState(credential: IssuedCredential): 'valid' | 'revoked' | 'expired' {
  if (credential.revokedAt !== undefined) return 'revoked';
  return isValid(credential, Date.now()) ? 'valid' : 'expired';
}

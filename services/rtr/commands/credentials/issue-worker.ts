import { readFileSync } from 'node:fs';
import { issueCredential } from '#shared/broker/authority/issue-credential.ts';
import type { Role } from '#shared/broker/credential.ts';
import { replaceFile } from '../../up/replace-file.ts';
import { readAuthority, writeAuthority } from './authority-folder.ts';

export interface IssueOptions {
  /** Folder of the trust. */
  from: string;
  role: Role;
  name: string;
  out: string;
  validMs?: number | undefined;
  ca?: string | undefined;
  print: (line: string) => void;
}

/**
 * `rtr credentials worker`: makes one more credential. The servers need not be touched.
 * @throws ConfigError for a name that cannot be used, or is in use
 */
export async function issueWorker({ from, role, name, out, validMs, ca, print }: IssueOptions): Promise<void> {
  const authority = readAuthority(from);
  const certificates = ca === undefined ? undefined : readFileSync(ca, 'utf8');
  const { text, issued } = await issueCredential(authority, { role, name, validMs, ca: certificates });
  // Remembered first: a credential that nobody knows of could not be revoked.
  await writeAuthority(from, { ...authority, issued: [...authority.issued, issued] });
  replaceFile(out, text);
  const until = issued.expiresAt === undefined ? 'until it is revoked' : `until ${dateOf(issued.expiresAt)}`;
  print(`${out} lets ${name} join as ${role} ${until}. It is a secret.`);
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

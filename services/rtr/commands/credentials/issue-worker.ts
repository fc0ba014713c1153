import { readFileSync } from 'node:fs';
import { issueCredential } from '#shared/broker/authority/issue-credential.ts';
import type { Role } from '#shared/broker/connection/credential.ts';
import { replaceFile } from '../../up/replace-file.ts';
import { changeAuthority } from './authority-folder.ts';
import { dateOf } from '../date-of.ts';

export interface IssueOptions {
  /** Folder of the authority. */
  from: string;
  role: Role;
  name: string;
  out: string;
  validMs?: number | undefined;
  ca?: string | undefined;
  print: (line: string) => void;
}

/**
 * `rtr credentials worker` and `rtr credentials part`: creates one more credential. The servers need no change.
 * @throws ConfigError for an invalid name, or one in use
 */
export async function issueWorker({ from, role, name, out, validMs, ca, print }: IssueOptions): Promise<void> {
  const certificates = ca === undefined ? undefined : readFileSync(ca, 'utf8');
  let text = '';
  let until = 'until it is revoked';
  // Recorded before it is written: an unrecorded credential could not be revoked.
  await changeAuthority(from, async (authority) => {
    const made = await issueCredential(authority, { role, name, validMs, ca: certificates });
    text = made.text;
    if (made.issued.expiresAt !== undefined) until = `until ${dateOf(made.issued.expiresAt)}`;
    return { ...authority, issued: [...authority.issued, made.issued] };
  });
  replaceFile(out, text);
  print(`${out} lets ${name} join as ${role} ${until}. It is a secret.`);
}

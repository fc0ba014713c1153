import { readFileSync } from 'node:fs';
import type { IssuedCredential } from '#shared/broker/authority/authority.ts';
import { issueCredential } from '#shared/broker/authority/credentials.ts';
import type { Role } from '#shared/broker/connection/credential.ts';
import { writeContent } from '../client/write-content.ts';
import { findWriteTarget } from '../client/write-target.ts';
import { changeAuthority, formatReloadNotice } from '#shared/broker/authority/authority-folder.ts';
import { formatDate } from '../table-lines.ts';

export interface IssueOptions {
  authorityFolder: string;
  role: Role;
  name: string;
  shared?: boolean;
  out: string;
  force?: boolean;
  validMs?: number | undefined;
  ca?: string | undefined;
  print: (line: string) => void;
}

/**
 * `rtr credentials worker` and `rtr credentials part`: creates one more credential. Only a shared credential requires a change on
 * the NATS servers.
 * @throws ConfigError for an invalid name, the name of a valid credential, or a shared credential that expires
 * @throws RouterError `invalid_request` if the file already exists or cannot be written
 */
export async function issueCredentialFile({
  authorityFolder,
  role,
  name,
  shared = false,
  out,
  force = false,
  validMs,
  ca,
  print,
}: IssueOptions): Promise<void> {
  const certificates = ca === undefined ? undefined : readFileSync(ca, 'utf8');
  const hint = 'name another path with --out, or replace it with --force.';
  // The credential is recorded before its file is written, because an unrecorded credential could not be revoked.
  const { text, issued, target } = await changeAuthority(authorityFolder, async (authority) => {
    const result = await issueCredential(authority, { role, name, shared, validMs, ca: certificates });
    const target = await findWriteTarget(out, { force, hint });
    authority.issued.push(result.issued);
    return { ...result, target };
  });
  const notice = shared ? formatReloadNotice(authorityFolder, `${name} is accepted`) : undefined;
  if (target.kind === 'output') {
    print(text.trimEnd());
    if (notice !== undefined) process.stderr.write(`${notice}\n`);
    return;
  }
  try {
    await writeContent([Buffer.from(text)], { target, output: process.stdout, mode: 0o600 });
  } catch (error) {
    // A device may have passed on a part. A file that is not complete does not exist, so the name is free again.
    if (target.kind !== 'stream') await forget(authorityFolder, issued);
    throw error;
  }
  const until = issued.expiresAt === undefined ? 'until it is revoked' : `until ${formatDate(issued.expiresAt)}`;
  print(`${out} lets ${name} join as ${role} ${until}. It is a secret.`);
  if (notice !== undefined) print(notice);
}

async function forget(authorityFolder: string, { key }: Pick<IssuedCredential, 'key'>): Promise<void> {
  await changeAuthority(authorityFolder, (authority) => {
    authority.issued = authority.issued.filter((each) => each.key !== key);
  });
}

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { issueCredential } from '#shared/broker/authority/issue-credential.ts';
import { roles } from '#shared/broker/connection/credential.ts';
import { replaceFile } from '../../up/replace-file.ts';
import { hasAuthority, writeAuthority } from './authority-folder.ts';

export interface InitOptions {
  out: string;
  prefix: string;
  /** File with the certificates that signed the broker's, when no public authority did. */
  ca?: string | undefined;
  print: (line: string) => void;
}

/**
 * `rtr credentials init`: makes a cluster's trust in NATS, and one credential each for the ingresses and for the workers of
 * each tier. Where there is a trust already it changes nothing, so that it may run at every start.
 */
export async function initCredentials({ out, prefix, ca, print }: InitOptions): Promise<void> {
  if (hasAuthority(out)) {
    print(`${out} holds the trust of a cluster already: nothing was changed.`);
    return;
  }
  const authority = await createAuthority(prefix, ca === undefined ? undefined : readFileSync(ca, 'utf8'));
  mkdirSync(out, { recursive: true, mode: 0o700 });
  for (const role of roles) {
    const { text, issued } = await issueCredential(authority, { role, name: role });
    authority.issued.push(issued);
    replaceFile(join(out, `${role}.creds`), text);
  }
  // Last of all: by it the next call knows that there is nothing left to do.
  await writeAuthority(out, authority);
  print(`${out} holds:`);
  print('  nats-auth.conf   to be included in the configuration of every NATS server');
  for (const role of roles)
    print(`  ${`${role}.creds`.padEnd(16)} for ${role === 'ingress' ? 'the ingresses' : `the ${role} workers`}`);
  print('  authority.json   makes further credentials: keep it where no server and no worker can read it');
}

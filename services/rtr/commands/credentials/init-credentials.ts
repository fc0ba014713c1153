import { readFileSync } from 'node:fs';
import { hasAuthority } from '#shared/broker/authority/authority-folder.ts';
import { createAuthorityFolder } from '#shared/broker/authority/own-credentials.ts';
import { roles, type Role } from '#shared/broker/connection/credential.ts';

export interface InitOptions {
  out: string;
  prefix: string;
  /** File with the certificate authority of the broker's certificates, if it is not a public authority. */
  ca?: string | undefined;
  print: (line: string) => void;
}

/**
 * `rtr credentials init`: creates a cluster's authority, and one credential for each kind of component. If an authority exists, the command
 * changes nothing, so it may run at every start.
 */
export async function initCredentials({ out, prefix, ca, print }: InitOptions): Promise<void> {
  if (hasAuthority(out)) {
    print(`${out} already holds an authority: nothing was changed.`);
    return;
  }
  await createAuthorityFolder(out, prefix, ca === undefined ? undefined : readFileSync(ca, 'utf8'));
  print(`${out} holds:`);
  print('  nats-auth.conf   for every NATS server: include it in the configuration');
  for (const role of roles) print(`  ${`${role}.creds`.padEnd(16)} for ${describeComponents(role)}`);
  print('  authority.json   signs further credentials: keep it where no server and no worker can read it');
}

function describeComponents(role: Role): string {
  switch (role) {
    case 'ingress':
      return 'the ingresses';
    case 'runner':
      return 'the batch runners';
    default:
      return `the ${role} workers`;
  }
}

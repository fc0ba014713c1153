import { ConfigError } from '#shared/core/load-config.ts';
import { changeAuthority } from './authority-folder.ts';

export interface RevokeOptions {
  /** Folder of the trust. */
  from: string;
  name: string;
  print: (line: string) => void;
}

/**
 * `rtr credentials revoke`: servers that have read the new `nats-auth.conf` refuse the credential and end the connections
 * that were made with it.
 * @throws ConfigError when there is no such credential
 */
export async function revokeCredential({ from, name, print }: RevokeOptions): Promise<void> {
  await changeAuthority(from, (authority) => {
    const wanted = authority.issued.filter((one) => one.name === name && one.revokedAt === undefined);
    if (wanted.length === 0) throw new ConfigError(`there is no credential named ${name} that could be revoked`);
    const revokedAt = Date.now();
    const issued = authority.issued.map((one) => (wanted.includes(one) ? { ...one, revokedAt } : one));
    return { ...authority, issued };
  });
  print(`${name} is revoked as soon as every NATS server has the new ${from}/nats-auth.conf:`);
  print('copy it to where they read it, and have each read it again with `nats-server --signal reload`.');
}

import { ConfigError } from '#shared/core/load-config.ts';
import { changeAuthority } from './authority-folder.ts';

export interface RevokeOptions {
  /** Folder of the authority. */
  from: string;
  name: string;
  print: (line: string) => void;
}

/**
 * `rtr credentials revoke`: once a server reads the new `nats-auth.conf`, it refuses the credential and closes the connections
 * that use it.
 * @throws ConfigError when there is no such credential
 */
export async function revokeCredential({ from, name, print }: RevokeOptions): Promise<void> {
  await changeAuthority(from, (authority) => {
    const wanted = authority.issued.filter((one) => one.name === name && one.revokedAt === undefined);
    if (wanted.length === 0) throw new ConfigError(`there is no credential named ${name} to revoke`);
    const revokedAt = Date.now();
    const issued = authority.issued.map((one) => (wanted.includes(one) ? { ...one, revokedAt } : one));
    return { ...authority, issued };
  });
  print(`${name} is revoked as soon as every NATS server has read the new ${from}/nats-auth.conf:`);
  print('copy it to each server and run `nats-server --signal reload` there.');
}

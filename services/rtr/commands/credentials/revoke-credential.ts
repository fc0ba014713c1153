import { changeAuthority, formatReloadNotice } from '#shared/broker/authority/authority-folder.ts';
import { revokeCredentials } from '#shared/broker/authority/credentials.ts';
import { ConfigError } from '#shared/core/load-config.ts';

export interface RevokeOptions {
  authorityFolder: string;
  name: string;
  print: (line: string) => void;
}

/**
 * `rtr credentials revoke`: revokes a credential. After a server has reloaded `nats-auth.conf`, it refuses the credential and closes its
 * connections.
 * @throws ConfigError if there is no such credential
 */
export async function revokeCredential({ authorityFolder, name, print }: RevokeOptions): Promise<void> {
  await changeAuthority(authorityFolder, (authority) => {
    const revoked = revokeCredentials(authority, (credential) => credential.name === name);
    if (revoked.length === 0) throw new ConfigError(`there is no credential named ${name} to revoke`);
  });
  print(formatReloadNotice(authorityFolder, `${name} is revoked`));
}

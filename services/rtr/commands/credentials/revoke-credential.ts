import { withRevoked } from '#shared/broker/authority/authority.ts';
import { changeAuthority, revocationNotice } from '#shared/broker/authority/authority-folder.ts';
import { ConfigError } from '#shared/core/load-config.ts';

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
    const changed = withRevoked(authority, name);
    if (!changed) throw new ConfigError(`there is no credential named ${name} to revoke`);
    return changed;
  });
  print(revocationNotice(from, name));
}

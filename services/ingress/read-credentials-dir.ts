import { accessSync, constants } from 'node:fs';
import { readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { ConfigError } from '#shared/core/load-config.ts';

/**
 * Checks the folder of the cluster's authority and returns it.
 * @throws ConfigError that names the setting, if the folder belongs to another cluster, or cannot be read or written
 */
export function readCredentialsDir(folder: string | undefined, prefix: string): string | undefined {
  if (folder === undefined) return undefined;
  try {
    const authority = readAuthority(folder);
    if (authority.prefix !== prefix)
      throw new ConfigError(`the authority belongs to the cluster ${authority.prefix}, but RTR_PREFIX is ${prefix}`);
    accessSync(folder, constants.W_OK);
    return folder;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`CREDENTIALS_DIR=${folder}: ${reason}`, { cause });
  }
}

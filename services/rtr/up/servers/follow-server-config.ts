import { unwatchFile, watchFile } from 'node:fs';
import { serverConfigFile, takeReloaderLock } from '#shared/broker/authority/authority-folder.ts';
import { UpError } from '../up-error.ts';

/** Milliseconds between two looks at the file. Polling works on every file system, and a revocation takes effect within a second. */
const pollMs = 200;

/**
 * Calls `reload` whenever the servers' configuration in the folder of an authority has changed, and declares that this process does so.
 * @returns a function that ends this
 * @throws UpError if another process does so already
 */
export function followServerConfig(folder: string, reload: () => void): () => void {
  const lock = takeReloaderLock(folder);
  if ('holder' in lock)
    throw new UpError(`${folder} belongs to a cluster that runs: stop it with kill ${lock.holder}.`);
  const file = serverConfigFile(folder);
  watchFile(file, { interval: pollMs, persistent: false }, reload);
  return () => {
    unwatchFile(file, reload);
    lock.release();
  };
}

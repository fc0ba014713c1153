import { chmodSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../environment.mjs';

/**
 * Creates the folder for the client's files if it is missing, and returns its path. Only this person can open the folder.
 * @returns {string}
 */
export function ensureConfigFolder() {
  const folder = join(findBaseFolder(), 'rtr');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  return folder;
}

function findBaseFolder() {
  const { XDG_CONFIG_HOME: xdg, APPDATA: appData } = environment;
  if (process.platform === 'win32' && appData) return appData;
  if (xdg) return xdg;
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Application Support') : join(homedir(), '.config');
}

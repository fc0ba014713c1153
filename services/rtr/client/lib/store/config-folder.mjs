import { chmodSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../environment.mjs';

/**
 * Returns the folder for the client's files, which only this person can open. Creates it if it is missing.
 * @returns {string}
 */
export function configFolder() {
  const folder = join(baseFolder(), 'rtr');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  return folder;
}

function baseFolder() {
  const { XDG_CONFIG_HOME: xdg, APPDATA: appData } = environment;
  if (process.platform === 'win32' && appData) return appData;
  if (xdg) return xdg;
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Application Support') : join(homedir(), '.config');
}

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from './environment.mjs';

/**
 * Opens a page in the person's browser, if there is one on this machine. The address of the page must have been printed before.
 * @param {string} page URL of a page of the router, normalized by `normalizeAddress`
 */
export function openBrowser(page) {
  const opener = findBrowser({ platform: process.platform, variables: environment, isWsl: isWsl() });
  if (!opener) return;
  const [command, ...args] = opener;
  spawn(command, [...args, page], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

/**
 * Returns the command that opens a page whose address follows; undefined if the person sits at another machine, or this one has no screen.
 * @param {object} machine
 * @param {NodeJS.Platform} machine.platform
 * @param {Record<string, string | undefined>} machine.variables of the environment
 * @param {boolean} machine.isWsl whether this is a Linux inside Windows
 * @param {(file: string) => boolean} [machine.exists]
 * @returns {[string, ...string[]] | undefined}
 */
export function findBrowser({ platform, variables, isWsl, exists = existsSync }) {
  const { SSH_CONNECTION, SSH_CLIENT, SSH_TTY, DISPLAY, WAYLAND_DISPLAY, PATH = '' } = variables;
  if (SSH_CONNECTION || SSH_CLIENT || SSH_TTY) return undefined;
  const windowsOpener = 'url.dll,FileProtocolHandler';
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', windowsOpener];
  if (platform !== 'linux') return undefined;
  // The browser of Windows opens even if Linux has a display of its own, because that is where the person has signed in.
  if (isWsl) {
    const hasView = PATH.split(':').some((folder) => exists(join(folder, 'wslview')));
    return hasView ? ['wslview'] : ['rundll32.exe', windowsOpener];
  }
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}

function isWsl() {
  if (process.platform !== 'linux') return false;
  try {
    return /microsoft/i.test(readFileSync('/proc/sys/kernel/osrelease', 'utf8'));
  } catch {
    return false;
  }
}

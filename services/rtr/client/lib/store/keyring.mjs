import { spawnSync } from 'node:child_process';
import { environment } from '../environment.mjs';

/** Milliseconds after which a silent keyring counts as unusable, because it may be waiting for a person who is not there. */
const timeoutMs = 1_000;

const service = 'rtr';

/**
 * A keyring of the system. Secrets travel on standard input and output only, where other processes cannot see them.
 * @typedef {object} Keyring
 * @property {(account: string, secret: string) => boolean} write returns false if the keyring cannot be used
 * @property {(account: string) => string | undefined} read
 * @property {(account: string) => void} remove
 */

/** @type {Keyring} The keyrings of GNOME and KDE, through libsecret. */
const secretService = {
  write: (account, secret) =>
    run('secret-tool', ['store', '--label=Model Router', 'service', service, 'account', account], secret) !==
      undefined && secretService.read(account) === secret,
  read: (account) => run('secret-tool', ['lookup', 'service', service, 'account', account]),
  remove: (account) => void run('secret-tool', ['clear', 'service', service, 'account', account]),
};

/** @type {Keyring} The keychain of macOS. */
const keychain = {
  write: (account, secret) => {
    // The command is sent on standard input, because other processes can see arguments.
    const command = `add-generic-password -U -s ${service} -a ${quote(account)} -w ${quote(secret)}\n`;
    return run('security', ['-i'], command) !== undefined && keychain.read(account) === secret;
  },
  read: (account) => run('security', ['find-generic-password', '-s', service, '-a', account, '-w']),
  remove: (account) => void run('security', ['delete-generic-password', '-s', service, '-a', account]),
};

/** Returns the keyring of this system; undefined if it has none that programs without a window can use. */
export function findKeyring() {
  if (process.platform === 'darwin') return keychain;
  // A person's desktop session has a message bus; without it, the keyring cannot be reached.
  const hasBus = Boolean(environment['DBUS_SESSION_BUS_ADDRESS']);
  return process.platform === 'linux' && hasBus ? secretService : undefined;
}

/**
 * @param {string} command
 * @param {readonly string[]} words
 * @param {string} [input]
 * @returns {string | undefined} the output; undefined if the command failed
 */
function run(command, words, input = '') {
  const { status, stdout } = spawnSync(command, words, {
    input,
    encoding: 'utf8',
    timeout: timeoutMs,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout.replace(/\n$/, '') : undefined;
}

/** @param {string} text */
function quote(text) {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

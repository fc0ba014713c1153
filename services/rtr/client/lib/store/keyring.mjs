import { spawnSync } from 'node:child_process';
import { environment } from '../environment.mjs';

/** Milliseconds after which a keyring that does not answer counts as unusable. It may be waiting for a person who is not there. */
const timeoutMs = 1_000;

const service = 'rtr';

/**
 * A keyring of the system. Secrets are passed only through standard input and output, which other processes cannot read.
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
    // The command goes to standard input, because other processes can read arguments.
    const command = `add-generic-password -U -s ${service} -a ${quote(account)} -w ${quote(secret)}\n`;
    return run('security', ['-i'], command) !== undefined && keychain.read(account) === secret;
  },
  read: (account) => run('security', ['find-generic-password', '-s', service, '-a', account, '-w']),
  remove: (account) => void run('security', ['delete-generic-password', '-s', service, '-a', account]),
};

/** Returns the keyring of this system; undefined if no keyring can be used without a window. */
export function findKeyring() {
  if (process.platform === 'darwin') return keychain;
  // The keyring is reached over the message bus of the person's desktop session.
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

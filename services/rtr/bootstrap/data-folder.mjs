import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isInstalledPackage } from '../../../shared/core/installed-package.mjs';

/** The option as the help shows it. */
export const dataOption = {
  flags: '--data <folder>',
  description:
    'folder of the data of `rtr up`; default: .rtr in a checkout, else $XDG_DATA_HOME/model-router or ~/.local/share/model-router',
};

/**
 * Returns the folder in which `rtr up` keeps its data, and the words of the command line without the option that names it. The option may
 * stand anywhere before `--`; the last one counts. An option without a folder stays among the words, where it is refused.
 * @param {string} root folder of the project
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} environment
 * @returns {{ folder: string, words: string[] }}
 */
export function readDataFolder(root, args, environment) {
  let named;
  const words = [...args];
  for (let index = 0; index < words.length && words[index] !== '--';) {
    const word = words[index] ?? '';
    const isJoined = word.startsWith('--data=');
    const value = isJoined ? word.slice('--data='.length) : word === '--data' ? words[index + 1] : undefined;
    if (value) {
      named = value;
      words.splice(index, isJoined ? 1 : 2);
    } else index += 1;
  }
  return { folder: named === undefined ? findDefault(root, environment) : resolve(named), words };
}

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} environment
 */
function findDefault(root, { XDG_DATA_HOME: dataHome }) {
  if (!isInstalledPackage(root)) return join(root, '.rtr');
  return join(dataHome || join(homedir(), '.local', 'share'), 'model-router');
}

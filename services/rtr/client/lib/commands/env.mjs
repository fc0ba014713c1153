import { copyFileSync, constants, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRouter } from '../find-router.mjs';
import { ClientError } from '../client-error.mjs';
import { environment } from '../environment.mjs';
import { ensureFreshSignIn } from '../fresh-sign-in.mjs';
import { findOwnCommand } from '../own-command.mjs';
import { programNames, programs } from '../programs/programs.mjs';
import { replaceFile } from '../store/replace-file.mjs';

/**
 * Prints the settings with which a program uses the router, or writes them into the program's settings file. Warns about existing settings
 * that override them.
 * @param {string} name name of the program, such as `claude`
 * @param {{ router: string | undefined, writes: boolean, shell: string | undefined }} options
 */
export async function printSettings(name, { router, writes, shell }) {
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (!program) throw new ClientError(`rtr has settings for ${programNames.join(', ')}, not for ${name}.`, 2);
  const signIn = await ensureFreshSignIn(findRouter(router));
  const tokenCommand = [...findClientProgram(), 'token', '--router', signIn.router];
  const { text, file, merge, findOverrides } = await program({ signIn, tokenCommand, shell });
  const before = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const warn = () => {
    for (const sentence of findOverrides?.(before ?? '') ?? []) process.stderr.write(`Warning: ${sentence}\n`);
  };
  if (!writes) {
    process.stdout.write(`${text}\n`);
    if (file !== undefined)
      process.stderr.write(
        `These settings belong in ${file}. To write them there: ${findOwnCommand()} env ${name} --write\n`,
      );
    return warn();
  }
  if (file === undefined || merge === undefined) {
    throw new ClientError(
      `${name} has no settings file. Run in your shell: eval "$(${findOwnCommand()} env ${name})"`,
      2,
    );
  }
  const after = merge(before ?? '');
  if (after === before) {
    say(`${file} has these settings already.`);
    return warn();
  }
  const backup = before === undefined ? undefined : backUp(file);
  mkdirSync(dirname(file), { recursive: true });
  // A symbolic link is not replaced, because some people keep their settings in a repository.
  const target = before === undefined ? file : realpathSync(file);
  replaceFile(target, after, before === undefined ? 0o600 : statSync(target).mode & 0o777);
  say(`${file} is written.${backup === undefined ? '' : ` The original file is kept as ${backup}.`}`);
  warn();
}

/**
 * Copies a file before rtr changes it for the first time, and returns the path of the copy.
 * @param {string} file
 */
function backUp(file) {
  const backup = `${file}.before-rtr`;
  if (!existsSync(backup)) copyFileSync(file, backup, constants.COPYFILE_EXCL);
  return backup;
}

/**
 * Returns the words of a command that runs this client from every folder: `rtr` if the `rtr` on the PATH is this client, otherwise Node and
 * the file.
 */
function findClientProgram() {
  const clientFile = realpathSync(fileURLToPath(new URL('../../rtr.mjs', import.meta.url)));
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const commandOnPath = folders.map((folder) => join(folder, 'rtr')).find((path) => existsSync(path));
  if (commandOnPath !== undefined && realpathSync(commandOnPath) === clientFile) return ['rtr'];
  return [process.execPath, clientFile];
}

/** @param {string} text */
function say(text) {
  process.stdout.write(`${text}\n`);
}

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { printSettings } from './commands/env.mjs';
import { login } from './commands/login.mjs';
import { logout } from './commands/logout.mjs';
import { printToken } from './commands/token.mjs';
import { ClientError } from './client-error.mjs';
import { programNames } from './programs/programs.mjs';
import { findOwnCommand } from './own-command.mjs';

const help = `Usage: rtr <command>

  login <url>        sign in to the router at this address, which becomes the default router
      --no-browser   only show the address of the page, do not open it
  token              print an access token for the router that is valid for at least two minutes
  env <program>      print the settings of a program: ${programNames.join(', ')}
      --write        write them into the program's settings file; its first version is kept as <file>.before-rtr
      --shell <name> the shell to print variables for: sh (the default), fish or powershell
  logout             sign out, at the router too

  --router <url>     for token, env and logout: another router than the default
  --version          print the version

Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

/**
 * Runs a command of the client and returns its exit code.
 * @param {readonly string[]} words
 * @returns {Promise<number>}
 */
export async function runClient(words) {
  try {
    return await runCommand(words);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
}

/** @param {readonly string[]} words */
async function runCommand([command = '', ...words]) {
  if (words.some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(help);
    return 0;
  }
  switch (command) {
    case 'login': {
      const { values, positionals } = parseOptions(words, { 'no-browser': { type: 'boolean' } });
      await login(requireOne(positionals, 'the address of a router'), { opensBrowser: values['no-browser'] !== true });
      return 0;
    }
    case 'token': {
      const { values, positionals } = parseOptions(words, { router: { type: 'string' } });
      requireNone(positionals);
      await printToken(toText(values['router']));
      return 0;
    }
    case 'env': {
      const { values, positionals } = parseOptions(words, {
        router: { type: 'string' },
        write: { type: 'boolean' },
        shell: { type: 'string' },
      });
      const program = requireOne(positionals, `a program: ${programNames.join(', ')}`);
      await printSettings(program, {
        router: toText(values['router']),
        writes: values['write'] === true,
        shell: toText(values['shell']),
      });
      return 0;
    }
    case 'logout': {
      const { values, positionals } = parseOptions(words, { router: { type: 'string' } });
      requireNone(positionals);
      return logout(toText(values['router']));
    }
    case '':
    case 'help':
    case '-h':
    case '--help':
      process.stdout.write(help);
      return command === '' ? 2 : 0;
    case '-v':
    case '--version':
      process.stdout.write(
        `${JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version}\n`,
      );
      return 0;
    default:
      throw new ClientError(`rtr has no command ${command}. See: ${findOwnCommand()} --help`, 2);
  }
}

/**
 * @param {readonly string[]} words
 * @param {Record<string, { type: 'boolean' | 'string' }>} options
 */
function parseOptions(words, options) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    throw new ClientError(
      `${error instanceof Error ? error.message : String(error)} See: ${findOwnCommand()} --help`,
      2,
    );
  }
}

/**
 * @param {readonly string[]} positionals
 * @param {string} what description of the argument, for the error
 */
function requireOne([first, ...others], what) {
  if (first === undefined || others.length > 0)
    throw new ClientError(`Name ${what}. See: ${findOwnCommand()} --help`, 2);
  return first;
}

/** @param {readonly string[]} positionals */
function requireNone(positionals) {
  if (positionals.length > 0)
    throw new ClientError(`Unexpected argument: ${positionals[0]}. See: ${findOwnCommand()} --help`, 2);
}

/** @param {unknown} value */
function toText(value) {
  return typeof value === 'string' ? value : undefined;
}

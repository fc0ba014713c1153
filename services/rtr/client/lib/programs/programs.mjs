import { claude } from './claude.mjs';
import { codex } from './codex.mjs';
import { openai } from './openai.mjs';
import { opencode } from './opencode.mjs';

/**
 * What the settings of a program are made of.
 * @typedef {object} Context
 * @property {import('../store/sign-ins.mjs').SignIn} signIn with a fresh access token
 * @property {string[]} tokenCommand the words of the command that prints a token of this sign-in
 * @property {string | undefined} shell
 */

/**
 * Settings of a program.
 * @typedef {object} Settings
 * @property {string} text to print
 * @property {string} [file] where they belong; absent for what only a shell can take
 * @property {(before: string) => string} [merge] the content of the file with the settings in it
 * @property {(content: string) => string[]} [overrides] sentences about what the program prefers to these settings
 */

/** @type {Record<string, (context: Context) => Promise<Settings>>} */
export const programs = { claude, codex, opencode, openai };

export const programNames = Object.keys(programs);

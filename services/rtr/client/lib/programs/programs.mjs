import { claude } from './claude.mjs';
import { codex } from './codex.mjs';
import { openai } from './openai.mjs';
import { opencode } from './opencode.mjs';

/**
 * The input for the settings of a program.
 * @typedef {object} Context
 * @property {import('../store/sign-ins.mjs').SignIn} signIn with a fresh access token
 * @property {string[]} tokenCommand words of the command that prints a token of this sign-in
 * @property {string | undefined} shell
 */

/**
 * Settings of a program.
 * @typedef {object} Settings
 * @property {string} text text to print
 * @property {string} [file] file for the settings; absent if only a shell can set them
 * @property {(before: string) => string} [merge] returns the content of the file with the settings in it
 * @property {(content: string) => string[]} [overrides] returns sentences about settings of the person that override those of the router
 */

/** @type {Record<string, (context: Context) => Promise<Settings>>} */
export const programs = { claude, codex, opencode, openai };

export const programNames = Object.keys(programs);

import { createClaudeSettings } from './claude.mjs';
import { createCodexSettings } from './codex.mjs';
import { createOpenAiSettings } from './openai.mjs';
import { createOpencodeSettings } from './opencode.mjs';

/**
 * The input from which the settings of a program are created.
 * @typedef {object} Context
 * @property {import('../store/sign-ins.mjs').SignIn} signIn with a fresh access token
 * @property {string[]} tokenCommand words of the command that prints a token of this sign-in
 * @property {string | undefined} shell shell for which to print commands
 */

/**
 * Settings of a program.
 * @typedef {object} Settings
 * @property {string} text settings to print
 * @property {string} [file] file for the settings; absent if only a shell can set them
 * @property {(before: string) => string} [merge] returns the content of the file with the settings in it
 * @property {(content: string) => string[]} [findOverrides] returns a warning for each setting of the person that overrides these settings
 */

/** @type {Record<string, (context: Context) => Promise<Settings>>} */
export const programs = {
  claude: createClaudeSettings,
  codex: createCodexSettings,
  opencode: createOpencodeSettings,
  openai: createOpenAiSettings,
};

export const programNames = Object.keys(programs);

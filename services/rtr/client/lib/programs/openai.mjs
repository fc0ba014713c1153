import { ClientError } from '../client-error.mjs';
import { requireApiAddress } from '../normalize-address.mjs';
import { quoteShellWord } from './shell-word.mjs';

/**
 * Creates shell commands that set the environment variables of OpenAI's SDKs. A program reads the variables once, at its start. Therefore a
 * program that runs for longer than the token is valid must call `rtr token` itself.
 * @param {import('./programs.mjs').Context} context
 * @returns {Promise<import('./programs.mjs').Settings>}
 */
export async function createOpenAiSettings({
  signIn,
  tokenCommand,
  shell = process.platform === 'win32' ? 'powershell' : 'sh',
}) {
  const base = `${requireApiAddress(signIn, 'openai')}/v1`;
  const command = tokenCommand.map(quoteShellWord).join(' ');
  switch (shell) {
    case 'sh':
      return { text: `export OPENAI_BASE_URL=${quoteShellWord(base)}\nexport OPENAI_API_KEY="$(${command})"` };
    case 'fish':
      return { text: `set -gx OPENAI_BASE_URL ${quoteShellWord(base)}\nset -gx OPENAI_API_KEY (${command})` };
    case 'powershell':
      return {
        text: `$env:OPENAI_BASE_URL = ${quotePowerShellWord(base)}\n$env:OPENAI_API_KEY = & ${tokenCommand.map(quotePowerShellWord).join(' ')}`,
      };
    default:
      throw new ClientError(`${shell} is not a supported shell. Supported shells: sh, fish, powershell.`, 2);
  }
}

/** @param {string} text */
function quotePowerShellWord(text) {
  return `'${text.replaceAll("'", "''")}'`;
}

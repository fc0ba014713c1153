import { homedir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../environment.mjs';
import { getJson } from '../router-api.mjs';
import { requireApiAddress } from '../normalize-address.mjs';
import { findClaudeOverrides } from './claude-overrides.mjs';
import { mergeJson } from './merge-json.mjs';
import { isModelName } from './model-ids.mjs';
import { quoteShellWord } from './shell-word.mjs';

/**
 * Milliseconds after which Claude Code requests a new token. It also requests a token after a 401. An access token is valid for 15
 * minutes.
 */
const helperTtlMs = 300_000;

/**
 * Variables that the router may set. They name the models behind Claude Code's aliases, the texts that Claude Code shows for these models,
 * and the size of the context window. Two of the variables are switches.
 */
export const admittedNames =
  /^(?:ANTHROPIC_DEFAULT_[A-Z\d]+_MODEL(?:_[A-Z]+)*|CLAUDE_CODE_(?:ENABLE_GATEWAY_MODEL_DISCOVERY|GATEWAY_HINT_HEADERS|MAX_CONTEXT_TOKENS))$/;

/**
 * Creates the settings of Claude Code: `apiKeyHelper` prints the token. The router adds further environment variables.
 * @param {import('./programs.mjs').Context} context
 * @returns {Promise<import('./programs.mjs').Settings>}
 */
export async function createClaudeSettings({ signIn, tokenCommand }) {
  const base = requireApiAddress(signIn, 'anthropic');
  const managed = await getJson(`${base}/managed/settings`, signIn.accessToken);
  const settings = {
    apiKeyHelper: tokenCommand.map(quoteShellWord).join(' '),
    env: {
      ANTHROPIC_BASE_URL: base,
      CLAUDE_CODE_API_KEY_HELPER_TTL_MS: String(helperTtlMs),
      ...filterAdmitted(managed),
    },
  };
  const file = findClaudeFile();
  return {
    text: JSON.stringify(settings, undefined, 2),
    file,
    merge: (before) => mergeJson(file, before, settings),
    findOverrides: (content) => findClaudeOverrides(file, content),
  };
}

/** Returns the path of Claude Code's settings file. */
export function findClaudeFile() {
  return join(environment['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude'), 'settings.json');
}

/**
 * Returns the variables in the router's answer that the router may set. Other variables could make Claude Code run a program, or send the
 * token to another address.
 * @param {unknown} managed
 * @returns {Record<string, string>}
 */
function filterAdmitted(managed) {
  const { settings } = Object(managed);
  const variables = Object.entries(Object(Object(settings).env));
  return Object.fromEntries(variables.filter(([name, value]) => admittedNames.test(name) && isModelName(value)));
}

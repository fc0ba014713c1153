import { homedir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../environment.mjs';
import { getJson } from '../router-api.mjs';
import { requireApiAddress } from '../normalize-address.mjs';
import { mergeToml } from './merge-toml.mjs';
import { readModelIds } from './model-ids.mjs';
import { toPlainName, findText, parseTomlLines } from './toml-lines.mjs';

/**
 * Creates the settings of Codex (0.169): a model provider with an `auth.command` that prints the token. Keeps the model that the person has
 * chosen if the router serves it, and otherwise sets `auto`.
 * @param {import('./programs.mjs').Context} context
 * @returns {Promise<import('./programs.mjs').Settings>}
 */
export async function createCodexSettings({ signIn, tokenCommand: [command = '', ...args] }) {
  const base = `${requireApiAddress(signIn, 'openai')}/v1`;
  const servedModels = readModelIds(await getJson(`${base}/models`, signIn.accessToken));
  const tables = {
    'model_providers.rtr': {
      name: 'Model Router',
      base_url: base,
      wire_api: 'responses',
    },
    'model_providers.rtr.auth': { command, args, timeout_ms: 10_000, refresh_interval_ms: 300_000 },
  };
  const file = findCodexFile();
  /** @param {string} before */
  const merge = (before) => {
    const chosen = findText(parseTomlLines(before), 'model');
    const model = chosen !== undefined && servedModels.includes(chosen) ? chosen : 'auto';
    return mergeToml(before, { model, model_provider: 'rtr' }, tables);
  };
  return { text: merge('').trimEnd(), file, merge, findOverrides: (content) => findOverrides(file, content) };
}

/** Returns the path of Codex' settings file. */
export function findCodexFile() {
  return join(environment['CODEX_HOME'] || join(homedir(), '.codex'), 'config.toml');
}

/**
 * Returns a warning if the active profile has a provider of its own.
 * @param {string} file path of the settings file, for the warning
 * @param {string} content content of the settings file
 */
function findOverrides(file, content) {
  const lines = parseTomlLines(content);
  const profile = findText(lines, 'profile');
  if (profile === undefined) return [];
  const path = `profiles.${toPlainName(profile)}`;
  const inline = lines.find((line) => line.path === path)?.value ?? '';
  const provider =
    findText(lines, `${path}.model_provider`) ?? /\bmodel_provider["']?\s*=\s*["']([^"']*)["']/.exec(inline)?.[1];
  if (provider === undefined || provider === 'rtr') return [];
  return [
    `The profile ${profile} is active in ${file}, and its \`model_provider\` is ${provider}: Codex does not use the router. Remove the line with \`profile\`, or that \`model_provider\`.`,
  ];
}

import { homedir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../environment.mjs';
import { getJson } from '../router-api.mjs';
import { addressOf } from './address-of.mjs';
import { mergeToml } from './merge-toml.mjs';
import { modelIds } from './model-ids.mjs';

/**
 * Codex: a model provider whose `auth.command` prints the token (Codex 0.169). The model that the person has chosen stays, if the router
 * serves it.
 * @param {import('./programs.mjs').Context} context
 * @returns {Promise<import('./programs.mjs').Settings>}
 */
export async function codex({ signIn, tokenCommand: [command = '', ...args] }) {
  const base = `${addressOf(signIn, 'openai')}/v1`;
  const served = modelIds(await getJson(`${base}/models`, signIn.accessToken));
  const tables = {
    'model_providers.rtr': {
      name: 'Model Router',
      base_url: base,
      wire_api: 'responses',
    },
    'model_providers.rtr.auth': { command, args, timeout_ms: 10_000, refresh_interval_ms: 300_000 },
  };
  const file = join(environment['CODEX_HOME'] || join(homedir(), '.codex'), 'config.toml');
  /** @param {string} before */
  const merge = (before) => {
    const chosen = /^\s*model\s*=\s*["']([^"'\n]+)["']/m.exec(before)?.[1];
    const model = chosen !== undefined && served.includes(chosen) ? chosen : 'auto';
    return mergeToml(before, { model, model_provider: 'rtr' }, tables);
  };
  return { text: merge('').trimEnd(), file, merge };
}

import { homedir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../environment.mjs';
import { getJson } from '../router-api.mjs';
import { requireApiAddress } from '../normalize-address.mjs';
import { readModelIds } from './model-ids.mjs';

/**
 * Creates the settings of opencode: a plugin, in a file of its own, that adds the router and its models and sets a fresh token for each
 * request.
 * @param {import('./programs.mjs').Context} context
 * @returns {Promise<import('./programs.mjs').Settings>}
 */
export async function createOpencodeSettings({ signIn, tokenCommand }) {
  const base = `${requireApiAddress(signIn, 'openai')}/v1`;
  const ids = readModelIds(await getJson(`${base}/models`, signIn.accessToken));
  const models = Object.fromEntries(ids.map((id) => [id, { name: id }]));
  const text = createPluginText(base, tokenCommand, models);
  return { text, file: findOpencodeFile(), merge: () => `${text}\n` };
}

/** Returns the path of the plugin, which is a file of its own. */
export function findOpencodeFile() {
  const folder = environment['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return join(folder, 'opencode', 'plugin', 'rtr.js');
}

/**
 * Returns the source of the plugin. opencode loads the plugin as a separate module, so the source contains everything that it uses.
 * @param {string} base
 * @param {readonly string[]} tokenCommand
 * @param {Record<string, { name: string }>} models
 */
function createPluginText(base, tokenCommand, models) {
  const [command, ...args] = tokenCommand;
  return `// Written by \`rtr env opencode\`: the models of a Model Router, with a fresh token for each request.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const provider = ${JSON.stringify({
    npm: '@ai-sdk/openai-compatible',
    name: 'Model Router',
    options: { baseURL: base, apiKey: 'rtr token' },
    models,
  })};

async function token() {
  const { stdout } = await promisify(execFile)(${JSON.stringify(command)}, ${JSON.stringify(args)});
  return stdout.trim();
}

export const ModelRouter = async () => ({
  config: async (config) => {
    config.provider = { ...config.provider, rtr: provider };
  },
  'chat.headers': async ({ model }, output) => {
    if (model.providerID === 'rtr') output.headers.authorization = \`Bearer \${await token()}\`;
  },
});`;
}

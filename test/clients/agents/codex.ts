import { join } from 'node:path';
import { cliPackage } from '../../helpers/clis/install-clis.ts';
import type { Client } from '../client.ts';
import { readTask } from './read-task.ts';

export const codex: Client = {
  name: 'Codex',
  from: { registry: 'npm', packages: cliPackage('codex') },
  cli: 'codex',
  formats: ['responses'],
  task: (folder) => readTask(folder, 'exec_command', (file) => ({ cmd: `cat ${file}` })),
  start: ({ installed, prompt, model, url }) => ({
    file: join(installed, 'node_modules/.bin/codex'),
    args: ['exec', '--skip-git-repo-check', '-m', model, prompt],
    files: { 'home/.codex/config.toml': codexConfig(`${url}/api/openai/v1`) },
  }),
};

/**
 * Codex' configuration for the router. Its commands, which are those of the tests, run outside its sandbox: that needs
 * a `bwrap` of the right version wherever one is installed. Searches of the live web, which Codex then offers to the
 * model, are switched off unless `web_search` is `live`.
 */
export function codexConfig(baseUrl: string, webSearch: 'live' | 'disabled' = 'disabled'): string {
  return `model_provider = "router"
approval_policy = "never"
sandbox_mode = "danger-full-access"
web_search = "${webSearch}"

[analytics]
enabled = false

[model_providers.router]
name = "Router"
base_url = "${baseUrl}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
}

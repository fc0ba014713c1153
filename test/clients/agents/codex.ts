import { join } from 'node:path';
import type { Client } from '../client.ts';
import { readTask } from './read-task.ts';

export const codex: Client = {
  name: 'Codex',
  from: { registry: 'npm', packages: { '@openai/codex': '0.169.0' } },
  formats: ['responses'],
  task: (folder) => readTask(folder, 'exec_command', (file) => ({ cmd: `cat ${file}` })),
  start: ({ installed, prompt, model, url }) => ({
    file: join(installed, 'node_modules/.bin/codex'),
    args: ['exec', '--skip-git-repo-check', '-m', model, prompt],
    files: { 'home/.codex/config.toml': codexConfig(`${url}/api/openai/v1`) },
  }),
};

/** Codex' configuration for the router. With full access for its commands it also offers searches of the live web to the model. */
export function codexConfig(baseUrl: string, sandbox = 'workspace-write'): string {
  return `model_provider = "router"
approval_policy = "never"
sandbox_mode = "${sandbox}"

[analytics]
enabled = false

[model_providers.router]
name = "Router"
base_url = "${baseUrl}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
}

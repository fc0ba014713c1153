import { join } from 'node:path';
import { cliPackage } from '../../helpers/clis/install-clis.ts';
import type { Client } from '../client.ts';
import { readTask } from './read-task.ts';

/** By client format: the AI SDK's provider that opencode loads, and its base URL. */
const providers: Record<string, { npm: string; path: string }> = {
  chat: { npm: '@ai-sdk/openai-compatible', path: '/api/openai/v1' },
  messages: { npm: '@ai-sdk/anthropic', path: '/api/anthropic/v1' },
  responses: { npm: '@ai-sdk/openai', path: '/api/openai/v1' },
};

export const opencode: Client = {
  name: 'opencode',
  from: { registry: 'npm', packages: cliPackage('opencode') },
  cli: 'opencode',
  formats: ['chat', 'messages', 'responses'],
  task: (folder) => readTask(folder, 'read', (file) => ({ filePath: file })),
  start: ({ installed, prompt, model, format, url }) => {
    const { npm, path } = providers[format] ?? {};
    const options = { baseURL: `${url}${path}`, apiKey: '{env:OPENAI_API_KEY}' };
    const provider = { npm, name: 'Router', options, models: { [model]: { name: model } } };
    const config = { autoupdate: false, share: 'disabled', provider: { router: provider } };
    return {
      file: join(installed, 'node_modules/.bin/opencode'),
      args: ['run', '-m', `router/${model}`],
      // Of an argument it would quote the quotation marks.
      input: prompt,
      files: { 'opencode.json': JSON.stringify(config) },
    };
  },
};

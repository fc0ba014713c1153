import { join } from 'node:path';
import { cliPackage } from '../../helpers/clis/install-clis.ts';
import type { Client } from '../client.ts';
import { readTask } from './read-task.ts';

export const claudeCode: Client = {
  name: 'Claude Code',
  from: { registry: 'npm', packages: cliPackage('claude') },
  cli: 'claude',
  formats: ['messages'],
  task: (folder) => readTask(folder, 'Read', (file) => ({ file_path: file })),
  start: ({ installed, prompt, model }) => ({
    file: join(installed, 'node_modules/.bin/claude'),
    args: ['-p', prompt, '--model', model, '--allowedTools', 'Read'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  }),
};

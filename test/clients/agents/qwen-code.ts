import { join } from 'node:path';
import type { Client } from '../client.ts';
import { readTask } from './read-task.ts';

export const qwenCode: Client = {
  name: 'qwen-code',
  from: { registry: 'npm', packages: { '@qwen-code/qwen-code': '0.24.4' } },
  formats: ['chat'],
  task: (folder) => readTask(folder, 'read_file', (file) => ({ file_path: file })),
  start: ({ installed, prompt, model }) => ({
    file: join(installed, 'node_modules/.bin/qwen'),
    args: ['--auth-type', 'openai', '-m', model, '--yolo', '--telemetry=false', prompt],
    env: { OPENAI_MODEL: model },
  }),
};

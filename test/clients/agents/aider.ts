import { join } from 'node:path';
import type { Client, Task } from '../client.ts';

const options =
  '--edit-format diff --yes-always --no-git --no-pretty --no-check-update --no-show-model-warnings --analytics-disable';

/** It edits files by blocks in the engine's text, not by tools. */
export const aider: Client = {
  name: 'aider',
  from: { registry: 'PyPI', packages: { 'aider-chat': '0.86.2' } },
  formats: ['chat'],
  task: editTask,
  start: ({ installed, prompt, model, url }) => ({
    // As a module: the path of the interpreter in the command itself fails once the folder was moved.
    file: join(installed, 'bin/python'),
    args: `-m aider --model openai/${model} ${options} --message`.split(' ').concat(prompt, 'note.txt'),
    env: { OPENAI_API_BASE: `${url}/api/openai/v1` },
  }),
};

function editTask(): Task {
  const block = ['note.txt', '<<<<<<< SEARCH', 'fridge', '=======', 'bathtub', '>>>>>>> REPLACE', ''].join('\n');
  return {
    what: 'file edit',
    prompt: 'Move the umbrella from the fridge to the bathtub.',
    files: { 'note.txt': 'fridge\n' },
    says: block,
    prints: 'Applied edit to note.txt',
    leaves: { file: 'note.txt', text: 'bathtub\n' },
  };
}

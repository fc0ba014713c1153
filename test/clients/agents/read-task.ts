import { join } from 'node:path';
import type { Task } from '../client.ts';

/** A coding agent's turn: it reads a file of its folder with a tool of its own, and says a sentence. */
export function readTask(folder: string, tool: string, argumentsFor: (file: string) => Record<string, unknown>): Task {
  const secret = 'The badger keeps its umbrella in the fridge.';
  return {
    what: 'tool turn',
    prompt: 'Read the file note.txt and tell me what it says.',
    files: { 'note.txt': `${secret}\n` },
    call: { name: tool, arguments: argumentsFor(join(folder, 'note.txt')) },
    result: secret,
    says: 'It is about an umbrella.',
    prints: 'It is about an umbrella.',
  };
}

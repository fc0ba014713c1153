import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Client, Command, Task, Turn } from './client.ts';

/** A client that is a library, driven by a program of `programs/`, which asks for the weather with a tool of its own. */
export function library(
  name: string,
  from: Client['from'],
  program: string,
  formats: readonly string[],
  task: () => Task = weatherTask,
): Client {
  return { name, from, formats, task, start: (turn) => startProgram(from.registry, program, turn) };
}

/** The tool is the program's own. Its result says what no engine could make up. */
function weatherTask(): Task {
  return {
    what: 'tool turn',
    prompt: 'What is the weather in Paris? Use the tool get_weather.',
    call: { name: 'get_weather', arguments: { city: 'Paris' } },
    result: 'It rains 7 ducks an hour in Paris.',
    says: 'Take an umbrella for the ducks.',
    prints: 'Take an umbrella for the ducks.',
  };
}

function startProgram(registry: Client['from']['registry'], program: string, { installed }: Turn): Command {
  const source = join(import.meta.dirname, 'programs', program);
  if (registry === 'PyPI') return { file: join(installed, 'bin/python'), args: [source] };
  // Node finds packages beside the file that imports them.
  const copy = join(installed, basename(program));
  copyFileSync(source, copy);
  return { file: process.execPath, args: [copy] };
}

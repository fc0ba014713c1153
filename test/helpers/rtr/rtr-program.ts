import { Command } from 'commander';
import { vi } from 'vitest';

/** Loads the real command line, which would otherwise parse this process's arguments. */
export async function rtrProgram(): Promise<Command> {
  const parsed: Command[] = [];
  const parse = vi.spyOn(Command.prototype, 'parseAsync').mockImplementation(function (this: Command) {
    parsed.push(this);
    return Promise.resolve(this);
  });
  try {
    vi.resetModules();
    await import('#services/rtr/main.ts');
  } finally {
    parse.mockRestore();
  }
  const [program] = parsed;
  if (!program) throw new Error('services/rtr/main.ts parses nothing');
  return program;
}

import { Command } from 'commander';
import { vi } from 'vitest';

/** The real command line, which would parse this process's arguments otherwise. */
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

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Longest run of a tool in milliseconds. An image for another architecture is emulated, and takes long. */
const toolMs = 45 * 60_000;

/**
 * Runs a program in the project's folder, and returns its output.
 * @throws Error with the program's errors
 */
export async function runTool(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { stdout } = await run(program, args, { maxBuffer: 256 * 1024 ** 2, timeout: toolMs, ...options });
  return stdout.trim();
}

/** Whether this machine has a program, asked with arguments that change nothing. */
export async function hasTool(program: string, ...args: readonly string[]): Promise<boolean> {
  return runTool(program, args).then(
    () => true,
    () => false,
  );
}

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../../..');

/**
 * Runs a program in the project's folder and resolves with its output.
 * @throws Error with both of its outputs, when it fails or exceeds the timeout in milliseconds
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  { env = {}, timeoutMs = 120_000 }: { env?: Record<string, string>; timeoutMs?: number } = {},
): Promise<string> {
  try {
    const options = { cwd: root, env: { ...process.env, ...env }, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`.slice(0, 8_000), { cause: error });
  }
}

export function docker(...args: readonly string[]): Promise<string> {
  return runCommand('docker', args);
}

/** Both outputs of a container. */
export function containerLogs(container: string): Promise<string> {
  return runCommand('sh', ['-c', 'docker logs "$0" 2>&1', container]);
}

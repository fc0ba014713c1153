import { execFile } from 'node:child_process';

export interface AgentRun {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command-line agent in a folder that is also its home, with nothing of this process's environment but the PATH.
 * @param input content of its standard input
 * @param lastOutput a text after which its standard input ends; without one, the input ends at once
 */
export function runAgent(
  command: string,
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
  input = '',
  lastOutput = '',
): Promise<AgentRun> {
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: `${folder}/.config`, ...environment };
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd: folder, env, timeout: 240_000 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr });
    });
    child.stdin?.write(input);
    let printed = '';
    const endInput = (): void => void child.stdin?.end();
    if (lastOutput === '') endInput();
    else child.stdout?.on('data', (piece: string) => (printed += piece).includes(lastOutput) && endInput());
  });
}

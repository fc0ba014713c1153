import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command, Turn } from './client.ts';

/** How a client's process ended. */
export interface Ending {
  /** Its exit code; null when it was ended from outside. */
  code: number | null;
  out: string;
  err: string;
}

/** Runs a client in its own folder, as its working directory and its home, and ends it with all its children after a time. */
export async function runCommand(command: Command, turn: Turn, timeoutMs: number): Promise<Ending> {
  const home = join(turn.folder, 'home');
  mkdirSync(home, { recursive: true });
  for (const [name, text] of Object.entries(command.files ?? {})) {
    mkdirSync(dirname(join(turn.folder, name)), { recursive: true });
    writeFileSync(join(turn.folder, name), text);
  }
  const child = spawn(command.file, command.args, {
    cwd: turn.folder,
    env: environmentOf(command, turn, home),
    stdio: 'pipe',
    detached: true,
  });
  const ending: Ending = { code: null, out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ending.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ending.err += text));
  // It may end without having read its input.
  child.stdin.on('error', () => undefined).end(command.input ?? '');
  const closed = once(child, 'close');
  const timer = setTimeout(() => killGroup(child.pid), timeoutMs);
  try {
    [ending.code] = (await closed) as [number | null];
  } finally {
    clearTimeout(timer);
    killGroup(child.pid);
  }
  return ending;
}

/** The variables in which SDKs look for their address and key, and nothing of this process's own but the path. */
function environmentOf(command: Command, { url, key, format, model, prompt }: Turn, home: string): NodeJS.ProcessEnv {
  return {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    LANG: 'C.UTF-8',
    HOME: home,
    OPENAI_BASE_URL: `${url}/api/openai/v1`,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: `${url}/api/anthropic`,
    ANTHROPIC_API_KEY: key,
    // LiteLLM fetches its list of models from elsewhere otherwise.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    CLIENT_FORMAT: format,
    CLIENT_MODEL: model,
    CLIENT_PROMPT: prompt,
    ...command.env,
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}

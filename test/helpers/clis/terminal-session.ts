import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { until } from '../until.ts';

/** An arrow key, as terminals send it. */
export const arrowUp = '\u001B[A';
export const enter = '\r';

/**
 * Starts a program in a pseudo-terminal of 140 columns, which `script` of util-linux provides.
 * @param command command for a POSIX shell
 */
export function openTerminal(command: string, { cwd, env }: { cwd: string; env: Record<string, string> }) {
  const inside = `stty cols 140 rows 50; exec ${command}`;
  const child = spawn('script', ['-qfec', inside, '/dev/null'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    shown += piece;
  });
  const text = (): string => stripVTControlCharacters(shown).replaceAll(/\s+/g, '');
  return {
    /** Waits until this text appears after the text of the previous wait, with any blanks and colours in between, and then presses keys. */
    see: async (words: string, keys: string = '') => {
      const wanted = words.replaceAll(/\s+/g, '');
      await until(() => text().includes(wanted), 30_000).catch((error: unknown) => {
        throw new Error(`the terminal does not show “${words}”, but: ${text().slice(-2_000)}`, { cause: error });
      });
      shown = '';
      if (keys === '') return;
      // A screen that was just drawn takes no keys yet.
      await new Promise((resolve) => setTimeout(resolve, 700));
      for (const key of pressed(keys)) {
        child.stdin.write(key);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}

function pressed(keys: string): string[] {
  return keys.split(arrowUp).flatMap((part, index) => [...(index === 0 ? [] : [arrowUp]), ...part.split('')]);
}

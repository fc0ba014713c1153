import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Environment } from '#shared/core/load-config.ts';
import { builtFile } from '../../helpers/processes/built-file.ts';

const root = join(import.meta.dirname, '..', '..', '..');

export interface PartOptions {
  file: string;
  env?: Environment;
  nodeFlags?: readonly string[];
  /** File for its output, as in production, so that no reader costs anything. */
  logFile: string;
  preload?: string;
}

export class Part {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #name: string;

  constructor({ file, env = {}, nodeFlags = [], logFile, preload }: PartOptions) {
    const log = openSync(logFile, 'a');
    this.#name = file;
    this.#child = spawn(
      process.execPath,
      [...nodeFlags, ...(preload === undefined ? [] : ['--import', join(root, preload)]), join(root, builtFile(file))],
      {
        cwd: root,
        // NODE_OPTIONS is passed, so that all components can be profiled from outside.
        env: { PATH: process.env['PATH'], NODE_OPTIONS: process.env['NODE_OPTIONS'], NODE_ENV: 'production', ...env },
        // A session of its own, as services have in production: the system's scheduler divides the machine by sessions.
        detached: true,
        stdio: ['ignore', log, log, 'ipc'],
        serialization: 'advanced',
      },
    );
    closeSync(log);
    this.pid = this.#child.pid ?? 0;
  }

  /** Sends a message, if given, and waits for the next message; rejects when the process ends first. */
  async ask<Answer>(question?: object): Promise<Answer> {
    const gone = new AbortController();
    const answer = once(this.#child, 'message', { signal: gone.signal });
    const end = once(this.#child, 'exit', { signal: gone.signal }).then(([code]) => {
      throw new Error(`${this.#name} ended with code ${code}`);
    });
    if (question) this.#child.send(question);
    try {
      const [message] = await Promise.race([answer, end]);
      return message as Answer;
    } finally {
      gone.abort();
      await Promise.allSettled([answer, end]);
    }
  }

  /** Ends the process, by force after ten seconds, and waits until it is gone. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const force = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(force);
  }
}

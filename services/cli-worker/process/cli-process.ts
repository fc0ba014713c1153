import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { ProcessGuard } from './process-guard.ts';

export interface ProcessEnd {
  /** End of a sentence, such as `ended with exit code 1`. */
  how: string;
  /** Whether the exit code is 0 and the output could be read. */
  isSuccess: boolean;
}

export interface ProcessOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  /** The complete environment of the process. */
  environment: Record<string, string>;
  guard: ProcessGuard;
}

/** Number of bytes at the end of standard error that are kept. */
const tailBytes = 4096;

/** Milliseconds between SIGTERM and SIGKILL. */
const endMs = 2_000;

/**
 * A command-line program that runs in a process group of its own, without a shell.
 * States: running → ended, by `end`, by `kill` or by itself.
 */
export class CliProcess {
  /** Resolves when the process has ended and all its output is read. Never rejects. */
  readonly whenEnded: Promise<ProcessEnd>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #onOutput: ((chunk: Buffer) => void) | undefined;
  #stderrTail = Buffer.alloc(0);
  #failure: unknown;
  #hasEnded = false;
  #hasClientText = false;

  constructor({ command, args, cwd, environment, guard }: ProcessOptions) {
    const child = spawn(command, args, { cwd, env: environment, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    const group = child.pid;
    if (group !== undefined) guard.add(group);
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.whenEnded = promise;
    const onEnd = (how: string, ok = false): void => {
      if (this.#hasEnded) return;
      // Programs that the process has started must not outlive it.
      this.kill();
      this.#hasEnded = true;
      if (group !== undefined) guard.remove(group);
      resolve({ how, isSuccess: ok && this.#failure === undefined });
    };
    child.once('error', (error) => onEnd(`could not be started (${error.message})`));
    // The event is not `exit`, because the last output must be read first.
    child.once('close', (code, signal) => {
      onEnd(signal ? `was ended by ${signal}` : `ended with exit code ${code}`, code === 0);
    });
    child.once('exit', () => {
      // A descendant that keeps the output open would delay `close` until it ends.
      setTimeout(() => this.kill(), endMs).unref();
    });
    // A broken pipe means that the process has ended.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      if (!this.#hasClientText) this.#stderrTail = Buffer.concat([this.#stderrTail, chunk]).subarray(-tailBytes);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether the process has ended and all its output is read. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether the process runs. When it ends, this becomes false before `hasEnded` becomes true. */
  get isRunning(): boolean {
    return this.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Sets the function that gets each further piece of standard output. If that function throws, the process is killed, and `waitForFailure`
   * reports the error.
   */
  set onOutput(onOutput: (chunk: Buffer) => void) {
    this.#onOutput = onOutput;
  }

  /** The end of the process's standard error, for the operator's log; empty as soon as the process has a client's text. */
  get stderr(): string {
    return this.#stderrTail.toString();
  }

  /** Drops standard error from now on. Call it before the process gets a client's text, which the process may print there. */
  stopKeepingStderr(): void {
    this.#hasClientText = true;
    this.#stderrTail = Buffer.alloc(0);
  }

  /** Writes text to standard input. Drops the text if the process has ended. */
  write(text: string): void {
    if (this.#child.stdin.writable) this.#child.stdin.write(text);
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  /** Waits until the process has ended, and returns the error for an answer that the end of the process has cut off. */
  async waitForFailure(): Promise<RouterError> {
    const { how } = await this.whenEnded;
    if (this.#failure instanceof RouterError) return this.#failure;
    const cause = this.#failure ?? (this.stderr === '' ? undefined : this.stderr);
    return new RouterError('upstream_failed', `The CLI ${how}.`, { cause });
  }

  /** Ends the process with SIGTERM, or with SIGKILL if it still runs after two seconds. Resolves when it has ended. */
  async end(): Promise<void> {
    this.endInput();
    this.#sendSignal('SIGTERM');
    const timer = new AbortController();
    await Promise.race([this.whenEnded, sleep(endMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    this.kill();
    await this.whenEnded;
  }

  /** Sends SIGKILL to the process and to everything that it has started. */
  kill(): void {
    if (!this.#hasEnded) this.#sendSignal('SIGKILL');
  }

  /**
   * Waits for a result of the process. Kills the process when the signal aborts, which ends the wait, and when the wait fails.
   * @throws the errors of `wait`
   * @throws the signal's reason
   */
  async killOnFailure<T>(signal: AbortSignal, wait: () => Promise<T>): Promise<T> {
    const kill = (): void => this.kill();
    signal.addEventListener('abort', kill, { once: true });
    try {
      if (signal.aborted) kill();
      return await wait();
    } catch (error) {
      this.kill();
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', kill);
    }
  }

  #read(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    try {
      this.#onOutput?.(chunk);
    } catch (error) {
      this.#failure = error;
      this.kill();
    }
  }

  #sendSignal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const group = this.#child.pid;
    if (group === undefined) return;
    try {
      process.kill(-group, signal);
    } catch (error) {
      // The group has no process left.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

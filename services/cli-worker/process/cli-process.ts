import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { ProcessGuard } from './process-guard.ts';

/** How a process ended. */
export interface ProcessEnd {
  /** As the end of a sentence: `ended with exit code 1`. */
  how: string;
  /** Whether it says that all went well. */
  ok: boolean;
}

export interface ProcessOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  /** All of its environment. */
  environment: Record<string, string>;
  guard: ProcessGuard;
}

/** Bytes of its standard error that are kept, the last ones. */
const tailBytes = 4096;

/** Milliseconds for a process to end after it was asked to, before it is forced. */
const endMs = 2_000;

/**
 * A running command-line program, in a process group of its own, without a shell.
 * States: running → ended; asked by `end`, forced by `kill`, or by itself.
 */
export class CliProcess {
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #onOutput: ((chunk: Buffer) => void) | undefined;
  #tail = Buffer.alloc(0);
  #failure: unknown;
  #hasEnded = false;
  #confided = false;

  constructor({ command, args, cwd, environment, guard }: ProcessOptions) {
    const child = spawn(command, args, { cwd, env: environment, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    const group = child.pid;
    if (group !== undefined) guard.watch(group);
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.ended = promise;
    const onEnd = (how: string, ok = false): void => {
      if (this.#hasEnded) return;
      // What it started itself must not outlive it.
      this.kill();
      this.#hasEnded = true;
      if (group !== undefined) guard.forget(group);
      resolve({ how, ok: ok && this.#failure === undefined });
    };
    child.once('error', (error) => onEnd(`could not be started (${error.message})`));
    // Not `exit`: what it printed last is to be read before.
    child.once('close', (code, signal) => {
      onEnd(signal ? `was ended by ${signal}` : `ended with exit code ${code}`, code === 0);
    });
    child.once('exit', () => {
      // A descendant that holds its output open would keep it from closing.
      setTimeout(() => this.kill(), endMs).unref();
    });
    // A pipe that breaks shows as the end of the process.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      if (!this.#confided) this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-tailBytes);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Who takes its standard output from now on, piece by piece. An error thrown ends the process, which fails with it. */
  set onOutput(onOutput: (chunk: Buffer) => void) {
    this.#onOutput = onOutput;
  }

  /** What it last printed to standard error, for the operator's log; nothing once it knows a client's text. */
  get complaints(): string {
    return this.#tail.toString();
  }

  /** Tells that it is given a client's text: what it prints to standard error may now be of it, and is dropped. */
  confide(): void {
    this.#confided = true;
    this.#tail = Buffer.alloc(0);
  }

  /** Writes text to its standard input. What cannot be written is lost: `ended` tells why. */
  write(text: string): void {
    if (this.#child.stdin.writable) this.#child.stdin.write(text);
  }

  /** Ends its standard input. */
  endInput(): void {
    this.#child.stdin.end();
  }

  /** The error for an answer that its end cut off. */
  async failure(): Promise<RouterError> {
    const { how } = await this.ended;
    if (this.#failure instanceof RouterError) return this.#failure;
    const cause = this.#failure ?? (this.complaints === '' ? undefined : this.complaints);
    return new RouterError('upstream_failed', `The CLI ${how}.`, { cause });
  }

  /** Asks it to end, forces it when it does not within a bound, and resolves when it is gone. */
  async end(): Promise<void> {
    this.endInput();
    this.#signal('SIGTERM');
    const timer = new AbortController();
    await Promise.race([this.ended, sleep(endMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    this.kill();
    await this.ended;
  }

  /** Ends it and all it started, at once. */
  kill(): void {
    if (!this.#hasEnded) this.#signal('SIGKILL');
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

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const group = this.#child.pid;
    if (group === undefined) return;
    try {
      process.kill(-group, signal);
    } catch (error) {
      // Nobody of the group is left.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

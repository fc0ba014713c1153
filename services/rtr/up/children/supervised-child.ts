import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { configExitCode } from '#shared/core/run-service.ts';
import { type Child, collectLastLines, isRunning, killGroup, stopChild } from './child.ts';

export interface SupervisionOptions {
  name: string;
  /**
   * Starts the program. A rejection counts as an immediate end.
   * @param stop aborts when the program is to be stopped; a program that has been started is then returned at once
   */
  start: (stop: AbortSignal) => Child | Promise<Child>;
  /** Called with a sentence when the program ends unexpectedly. */
  onUnexpectedEnd: (sentence: string) => void;
  /** Called with a sentence when the program is not restarted, because it ended too often or its settings are invalid. */
  onGiveUp: (reason: string) => void;
  /** Called when the program's process has started or ended. */
  onChange: () => void;
  /** Milliseconds until the first restart. The pause doubles with each further restart. Default: 250. */
  pauseMs?: number;
}

/** Number of ends in a row after which a program is not started again. */
const maxStarts = 6;
/** Milliseconds after its start until a program counts as healthy. The earlier ends of a healthy program no longer count. */
const healthyAfterMs = 10_000;
/** Maximum milliseconds to wait for the rest of a program's output after its end. */
const outputTimeoutMs = 1_000;

/**
 * A program that is restarted when it ends unexpectedly, after growing pauses.
 *
 * States: `running` (the program runs or starts), `pausing` (before a restart), `stopped` (by `stop`, or given up). Transitions: running →
 * pausing when the program ends; pausing → running after the pause; running → stopped at the sixth end in a row, or at the first end with
 * the exit code for invalid settings; running or pausing → stopped by `stop`.
 */
export class SupervisedChild {
  readonly name: string;
  readonly #options: SupervisionOptions;
  readonly #stop = new AbortController();
  #child: Child | undefined;
  #state: 'running' | 'pausing' | 'stopped' = 'running';
  #endsInARow = 0;
  #startedAt = 0;
  #lastEnd: string | undefined;
  #pause: NodeJS.Timeout | undefined;
  #lastRestart: Promise<void> | undefined;

  private constructor(options: SupervisionOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /**
   * Starts the program and keeps it running.
   * @throws the errors of the program's first start
   */
  static async start(options: SupervisionOptions): Promise<SupervisedChild> {
    const supervised = new SupervisedChild(options);
    supervised.#supervise(await options.start(supervised.#stop.signal));
    return supervised;
  }

  get pid(): number | undefined {
    return this.#child && isRunning(this.#child) ? this.#child.pid : undefined;
  }

  /** The process that runs or has run last: its start in milliseconds since 1970, and how it ended, unless it runs or was stopped. */
  get lastProcess(): { pid: number | undefined; startedAt: number; end: string | undefined } {
    return {
      pid: this.#child?.pid,
      startedAt: this.#startedAt,
      end: this.pid === undefined ? this.#lastEnd : undefined,
    };
  }

  /** Whether the program is neither stopped nor given up. */
  get isActive(): boolean {
    return this.#state !== 'stopped';
  }

  /**
   * Ends the program: SIGTERM, after `timeoutMs` SIGKILL. Also ends a program that is being restarted. Resolves when the program has ended. It
   * is not restarted.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.#state = 'stopped';
    this.#lastEnd = undefined;
    this.#stop.abort();
    clearTimeout(this.#pause);
    await this.#lastRestart;
    if (this.#child) await stopChild(this.#child, timeoutMs);
  }

  kill(): void {
    if (this.#child && isRunning(this.#child)) killGroup(this.#child);
  }

  #supervise(child: Child): void {
    this.#child = child;
    this.#startedAt = Date.now();
    this.#options.onChange();
    const lastLines = collectLastLines(child);
    void waitForEnd(child).then(async (error) => {
      this.#options.onChange();
      if (child.exitCode === configExitCode) {
        await waitUntilClosed(child);
        const sentences = lastLines().filter((line) => !line.startsWith('{'));
        this.#giveUp(`${this.name} cannot be started with these settings: ${sentences.join('\n')}`);
        return;
      }
      if (Date.now() - this.#startedAt > healthyAfterMs) this.#endsInARow = 0;
      this.#handleEnd(describeEnd(child, error));
    });
  }

  #handleEnd(how: string): void {
    if (this.#state === 'stopped') return;
    this.#lastEnd = how;
    this.#endsInARow += 1;
    if (this.#endsInARow === maxStarts) {
      this.#options.onUnexpectedEnd(`${this.name} ${how}, ${maxStarts} times in a row: it is not started again`);
      this.#giveUp(`${this.name} cannot be kept running; the log above shows why.`);
      return;
    }
    const pauseMs = (this.#options.pauseMs ?? 250) * 2 ** (this.#endsInARow - 1);
    this.#state = 'pausing';
    this.#options.onUnexpectedEnd(`${this.name} ${how}: it is started again in ${pauseMs / 1000} s`);
    this.#pause = setTimeout(() => {
      this.#lastRestart = this.#restart();
    }, pauseMs);
  }

  #giveUp(reason: string): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#lastEnd ??= reason;
    this.#options.onGiveUp(reason);
  }

  async #restart(): Promise<void> {
    this.#state = 'running';
    try {
      this.#supervise(await this.#options.start(this.#stop.signal));
    } catch (error) {
      this.#handleEnd(`did not start (${error instanceof Error ? error.message : String(error)})`);
    }
  }
}

/** Resolves when a program has ended, with the error if the program could not be started. */
function waitForEnd(child: Child): Promise<Error | undefined> {
  return new Promise((resolve) => {
    // A program that could not be signalled emits an error too, and runs on.
    child.on('error', (error) => {
      if (!isRunning(child)) resolve(error);
    });
    child.once('exit', () => resolve(undefined));
    if (!isRunning(child)) resolve(undefined);
  });
}

/** Waits for the end of a program's output, which may arrive after its exit. */
async function waitUntilClosed(child: Child): Promise<void> {
  if (child.stderr.closed) return;
  await Promise.race([once(child, 'close'), sleep(outputTimeoutMs, undefined, { ref: false })]);
}

function describeEnd(child: Child, error: Error | undefined): string {
  if (error) return `could not be started (${error.message})`;
  if (child.pid === undefined) return 'could not be started';
  if (child.signalCode) return `was ended by ${child.signalCode}`;
  return `ended with exit code ${child.exitCode}`;
}

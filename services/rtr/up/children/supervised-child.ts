import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { configExitCode } from '#shared/core/run-service.ts';
import { type Child, collectLastLines, isRunning, killGroup, stopChild } from './child.ts';

/** A program that is kept running. */
export interface SupervisionOptions {
  name: string;
  /** Starts the program. A rejection counts as an end right away. */
  start: () => Child | Promise<Child>;
  /** Called with a sentence when the program ended unasked, and what is done about it. */
  onTrouble: (sentence: string) => void;
  /** Called with a sentence for the person when it is not started again: it ended too often, or its settings are wrong. */
  onGiveUp: (reason: string) => void;
  /** Called whenever its process has changed. */
  onChange: () => void;
  /** Pause before the first new start, doubled with each further one; 250 ms unless told. */
  pauseMs?: number;
}

const startsAtMost = 6;
/** A program that ran for so long is taken as healthy: the count of its ends begins anew. */
const healthyAfterMs = 10_000;
const lastWordsMs = 1_000;

/**
 * A program that is started again when it ends unasked, after growing pauses.
 *
 * States: `running` (it runs, or its start is under way), `pausing` (before the next start), `stopped` (asked to, or given
 * up). Changes: running → pausing when it ends; pausing → running after the pause; running → stopped at the sixth end in
 * a row, or at the first that tells of wrong settings; running or pausing → stopped by `stop`.
 */
export class SupervisedChild {
  readonly name: string;
  readonly #options: SupervisionOptions;
  #child: Child | undefined;
  #state: 'running' | 'pausing' | 'stopped' = 'running';
  #ends = 0;
  #pause: NodeJS.Timeout | undefined;

  private constructor(options: SupervisionOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /**
   * Starts the program and keeps it running from then on.
   * @throws what its first start throws
   */
  static async begin(options: SupervisionOptions): Promise<SupervisedChild> {
    const supervised = new SupervisedChild(options);
    supervised.#watch(await options.start());
    return supervised;
  }

  get pid(): number | undefined {
    return this.#child && isRunning(this.#child) ? this.#child.pid : undefined;
  }

  /** False once it was stopped or given up. */
  get active(): boolean {
    return this.#state !== 'stopped';
  }

  /** Asks the program to end, forces it after `patienceMs`, and returns when it is gone. */
  async stop(patienceMs: number): Promise<void> {
    this.#state = 'stopped';
    clearTimeout(this.#pause);
    if (this.#child) await stopChild(this.#child, patienceMs);
  }

  /** Ends the program at once; `stop` returns soon after. */
  kill(): void {
    if (this.#child && isRunning(this.#child)) killGroup(this.#child);
  }

  #watch(child: Child): void {
    this.#child = child;
    this.#options.onChange();
    const startedAt = Date.now();
    const lastLines = collectLastLines(child);
    const ended = isRunning(child) ? Promise.race([once(child, 'exit'), failed(child)]) : Promise.resolve();
    void ended.then(async () => {
      this.#options.onChange();
      if (child.exitCode === configExitCode) {
        await untilClosed(child);
        const sentences = lastLines().filter((line) => !line.startsWith('{'));
        this.#giveUp(`${this.name} cannot be started with these settings: ${sentences.join('\n')}`);
        return;
      }
      if (Date.now() - startedAt > healthyAfterMs) this.#ends = 0;
      this.#ended(howItEnded(child));
    });
  }

  #ended(how: string): void {
    if (this.#state === 'stopped') return;
    this.#ends += 1;
    if (this.#ends === startsAtMost) {
      this.#options.onTrouble(`${this.name} ${how}, ${startsAtMost} times in a row: it is not started again`);
      this.#giveUp(`${this.name} cannot be kept running: the log above says why.`);
      return;
    }
    const pauseMs = (this.#options.pauseMs ?? 250) * 2 ** (this.#ends - 1);
    this.#state = 'pausing';
    this.#options.onTrouble(`${this.name} ${how}: it is started again in ${pauseMs / 1000} s`);
    this.#pause = setTimeout(() => void this.#startAgain(), pauseMs);
  }

  #giveUp(reason: string): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#options.onGiveUp(reason);
  }

  async #startAgain(): Promise<void> {
    this.#state = 'running';
    try {
      const child = await this.#options.start();
      this.#watch(child);
      // Stopped while it started.
      if (!this.active) await stopChild(child, 0);
    } catch (error) {
      this.#ended(`did not start (${error instanceof Error ? error.message : String(error)})`);
    }
  }
}

function failed(child: Child): Promise<void> {
  return new Promise((resolve) => {
    child.once('error', () => resolve());
  });
}

/** The last words of a program may be read only after its end. */
async function untilClosed(child: Child): Promise<void> {
  if (child.stderr.closed) return;
  await Promise.race([once(child, 'close'), sleep(lastWordsMs, undefined, { ref: false })]);
}

function howItEnded(child: Child): string {
  if (child.signalCode) return `was ended by ${child.signalCode}`;
  return child.exitCode === null ? 'could not be started' : `ended with exit code ${child.exitCode}`;
}

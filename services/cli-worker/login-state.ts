import { statSync } from 'node:fs';
import type { WorkerFacts } from '#shared/broker/worker/worker-options.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds until an invalid login is tried again for the first time. The time doubles with each further refusal. */
const firstRetryMs = 60_000;
/** Maximum milliseconds until an invalid login is tried again. */
const maxRetryMs = 480_000;

/** Milliseconds between two checks of the file of an invalid login. */
const checkMs = 1_000;

/**
 * Tracks whether the CLI is signed in to its upstream. The results of its requests show this. While the login is invalid the worker accepts
 * no jobs, because each would fail. When the file of the login has changed, or after a while, the worker accepts jobs again. The next job
 * then shows whether the login is valid.
 */
export class LoginState {
  readonly #file: string | undefined;
  readonly #log: Logger;
  readonly #onChange: () => void;
  /** Consecutive refusals of the login by the upstream. */
  #refusals = 0;
  /** When the worker will accept jobs again, in ms since 1970; undefined unless the login is invalid. */
  #retryAt: number | undefined;
  #fileChangedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param file the file of the login, which a new sign-in writes; undefined if a key is used
   * @param onChange called when the login becomes invalid, and when the worker accepts jobs again to try it
   */
  constructor(file: string | undefined, log: Logger, onChange: () => void) {
    this.#file = file;
    this.#log = log;
    this.#onChange = onChange;
  }

  /** Returns the facts to announce. They say that the worker accepts no jobs while the login is invalid. */
  restrictFacts(facts: WorkerFacts): WorkerFacts {
    if (this.#retryAt === undefined) return facts;
    return { ...facts, accepting: false, reason: 'failing: login', resumesAt: this.#retryAt };
  }

  /** Records that the upstream has answered. */
  recordAccepted(): void {
    this.#refusals = 0;
  }

  /** Records that the upstream has refused the login. Does nothing while the login is already invalid. */
  recordRefused(): void {
    if (this.#retryAt !== undefined) return;
    this.#refusals += 1;
    this.#retryAt = Date.now() + Math.min(maxRetryMs, firstRetryMs * 2 ** (this.#refusals - 1));
    this.#fileChangedAt = this.#readFileTime();
    this.#timer = setInterval(() => this.#checkAgain(), checkMs);
    this.#log.error('the upstream refuses the login of the CLI: sign in anew; the worker takes no jobs');
    this.#onChange();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #checkAgain(): void {
    const hasChanged = this.#readFileTime() !== this.#fileChangedAt;
    if (!hasChanged && Date.now() < (this.#retryAt ?? 0)) return;
    clearInterval(this.#timer);
    this.#retryAt = undefined;
    this.#log.info({ hasChanged }, 'the login of the CLI is tried again');
    this.#onChange();
  }

  #readFileTime(): number | undefined {
    const file = this.#file;
    if (file === undefined) return undefined;
    try {
      return statSync(file).mtimeMs;
    } catch {
      // A login that cannot be read counts as absent: the CLI cannot read it either.
      return undefined;
    }
  }
}

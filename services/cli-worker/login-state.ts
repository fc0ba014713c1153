import { statSync } from 'node:fs';
import type { WorkerFacts } from '#shared/broker/worker/worker-options.ts';
import type { Logger } from '#shared/core/log.ts';

export interface LoginStateOptions {
  /** The file of the login, which is written when somebody signs in anew; undefined for a login by key. */
  file: string | undefined;
  log: Logger;
  /** Called when the login is over, and when it is tried again. */
  onChange: () => void;
}

/** First and maximum time in milliseconds until a login that is over is tried again; doubled each time that it still is. */
const firstMs = 60_000;
const longestMs = 480_000;

/** Milliseconds between two looks at the file of a login that is over. */
const lookMs = 1_000;

/**
 * Whether the CLI is signed in to its upstream, by what becomes of its requests. While the login is over the worker takes no jobs:
 * each would fail. It is tried again with the next job once its file has changed, and after a while.
 */
export class LoginState {
  readonly #options: LoginStateOptions;
  /** Times in a row that the upstream refused the login. */
  #refusals = 0;
  /** When it is tried again, in ms since 1970; undefined while it is not known to be over. */
  #triesAt: number | undefined;
  #changedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LoginStateOptions) {
    this.#options = options;
  }

  /** Returns the facts to announce. */
  restrict(facts: WorkerFacts): WorkerFacts {
    if (this.#triesAt === undefined) return facts;
    return { ...facts, accepting: false, reason: 'failing: login', resumesAt: this.#triesAt };
  }

  /** The upstream has answered. */
  accepted(): void {
    this.#refusals = 0;
  }

  /** The upstream has refused the login. */
  refused(): void {
    if (this.#triesAt !== undefined) return;
    this.#refusals += 1;
    this.#triesAt = Date.now() + Math.min(longestMs, firstMs * 2 ** (this.#refusals - 1));
    this.#changedAt = this.#readChangedAt();
    this.#timer = setInterval(() => this.#look(), lookMs);
    this.#options.log.error('the upstream refuses the login of the CLI: sign in anew; the worker takes no jobs');
    this.#options.onChange();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const hasChanged = this.#readChangedAt() !== this.#changedAt;
    if (!hasChanged && Date.now() < (this.#triesAt ?? 0)) return;
    clearInterval(this.#timer);
    this.#triesAt = undefined;
    this.#options.log.info({ hasChanged }, 'the login of the CLI is tried again');
    this.#options.onChange();
  }

  #readChangedAt(): number | undefined {
    const { file } = this.#options;
    return file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Logger } from '#shared/core/log.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from './engine-http.ts';
import type { Discovery, Engine } from './engines/engine.ts';
import { isUnreachable } from '#shared/upstream/is-unreachable.ts';

/** What the cluster is to know of the engine. */
export interface EngineState extends Discovery {
  models: ModelInfo[];
  /** Whether the engine can take requests now. */
  healthy: boolean;
}

export interface FollowOptions {
  http: EngineHttp;
  engine: Engine;
  log: Logger;
  /** What the engine told when it was found. */
  found: Discovery;
  /** Called with the whole state whenever a part of it has changed. */
  onChange: (state: EngineState) => void;
  /** Milliseconds between two looks at its health; each is varied, so that many workers do not ask in step. */
  healthEveryMs?: number;
  /** Milliseconds between two looks at its models. */
  modelsEveryMs?: number;
}

/** How long an engine that is busy may take to say that it is well. */
const healthTimeoutMs = 3000;

/** Timeouts in a row that count as ill: a single one happens to an engine under load. */
const timeoutsUntilIll = 2;

/**
 * Follows the engine's health and models for as long as the worker lives.
 * States: healthy ⇄ ill. A refused connection or an answer other than 200 turns it ill at once, an answer of 200 turns
 * it healthy again, after its models were read anew.
 */
export class EngineFollower {
  readonly #options: Required<FollowOptions>;
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #state: EngineState;
  #timeouts = 0;
  #modelsReadAt = performance.now();
  #wake = new AbortController();

  constructor(options: FollowOptions) {
    this.#options = { healthEveryMs: 2000, modelsEveryMs: 30_000, ...options };
    this.#state = { ...options.found, healthy: true };
    this.#loop = this.#follow();
  }

  get state(): EngineState {
    return this.#state;
  }

  /** Tells that a job found nobody at the engine's address. */
  unreachable(): void {
    this.#become({ ...this.#state, healthy: false });
    this.#wake.abort();
  }

  /** Stops looking. Settles when the last look is over, which is bounded by its time-out. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#pause();
      if (!this.#stop.signal.aborted) await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { http, engine, modelsEveryMs, log } = this.#options;
    try {
      const { status } = await http.get(engine.healthPath, healthTimeoutMs);
      if (status !== 200)
        throw new UpstreamAnswerError(`the engine answered ${engine.healthPath} with status ${status}`);
      this.#timeouts = 0;
      if (this.#state.healthy && performance.now() - this.#modelsReadAt < modelsEveryMs) return;
      const found = await engine.discover(http, this.#state.models);
      this.#modelsReadAt = performance.now();
      this.#become({ ...found, healthy: true });
    } catch (error) {
      if (this.#isIll(error)) this.#become({ ...this.#state, healthy: false });
      log.debug({ err: error }, 'looking at the engine failed');
    }
  }

  #isIll(error: unknown): boolean {
    if (isUnreachable(error) || error instanceof UpstreamAnswerError) return true;
    this.#timeouts += 1;
    return this.#timeouts >= timeoutsUntilIll;
  }

  #become(state: EngineState): void {
    if (isDeepStrictEqual(state, this.#state)) return;
    const { log, onChange } = this.#options;
    if (this.#state.healthy && !state.healthy) log.warn('the engine is ill: no jobs are taken');
    if (!this.#state.healthy && state.healthy) log.info('the engine is well again');
    this.#state = state;
    onChange(state);
  }

  /** Waits for the time of the next look, or until a job found the engine unreachable. */
  async #pause(): Promise<void> {
    const ms = this.#options.healthEveryMs * (0.8 + Math.random() * 0.4);
    const signal = AbortSignal.any([this.#stop.signal, this.#wake.signal]);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
    if (this.#wake.signal.aborted) this.#wake = new AbortController();
  }
}

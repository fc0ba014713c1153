import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Logger } from '#shared/core/log.ts';
import { isUnreachable, UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { EngineHttp } from './engine-http.ts';
import type { Discovery, Engine } from './engines/engine.ts';

/** The facts about the engine that the worker announces. */
export interface EngineState extends Discovery {
  models: ModelInfo[];
  isHealthy: boolean;
}

export interface EngineFollowerOptions {
  http: EngineHttp;
  engine: Engine;
  log: Logger;
  discovery: Discovery;
  /** Called with the whole state when any part of the state changes. */
  onChange: (state: EngineState) => void;
  /** Milliseconds between two health checks. The actual pauses vary by up to 20 %, so that many workers do not check at the same time. */
  healthEveryMs?: number;
  /** Milliseconds between two readings of the list of models. */
  modelsEveryMs?: number;
}

/** Timeout of a health check in milliseconds. It is long, because a busy engine answers late. */
const healthTimeoutMs = 3000;

/**
 * Number of consecutive timeouts, or other failures except refused connections, after which an engine counts as ill. A single timeout can
 * happen under load.
 */
const maxTimeouts = 2;

/**
 * Follows the engine's health and models while the worker runs.
 *
 * States: healthy ⇄ ill. A refused connection or a status other than 200 makes the engine ill at once. The engine is healthy again after a
 * status of 200, as soon as its models have been read again.
 */
export class EngineFollower {
  readonly #options: Required<EngineFollowerOptions>;
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #state: EngineState;
  #timeouts = 0;
  #modelsReadAt = performance.now();
  #wake = new AbortController();

  constructor(options: EngineFollowerOptions) {
    this.#options = { healthEveryMs: 2000, modelsEveryMs: 30_000, ...options };
    this.#state = { ...options.discovery, isHealthy: true };
    this.#loop = this.#follow();
  }

  get state(): EngineState {
    return this.#state;
  }

  /** Marks the engine as ill and checks it at once. Call it when a job could not connect to the engine. */
  markUnreachable(): void {
    this.#setState({ ...this.#state, isHealthy: false });
    this.#wake.abort();
  }

  /** Stops the checks. Resolves when the current check ends, which takes at most its timeout. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#pause();
      if (!this.#stop.signal.aborted) await this.#check();
    }
  }

  async #check(): Promise<void> {
    const { http, engine, modelsEveryMs, log } = this.#options;
    try {
      const { status } = await http.get(engine.healthPath, healthTimeoutMs);
      if (status !== 200)
        throw new UpstreamAnswerError(`the engine answered ${engine.healthPath} with status ${status}`);
      if (!this.#state.isHealthy || performance.now() - this.#modelsReadAt >= modelsEveryMs) {
        const discovery = await engine.discover(http, this.#state.models);
        this.#modelsReadAt = performance.now();
        this.#setState({ ...discovery, isHealthy: true });
      }
      this.#timeouts = 0;
    } catch (error) {
      if (this.#makesIll(error)) this.#setState({ ...this.#state, isHealthy: false });
      log.debug({ err: error }, 'the health check of the engine failed');
    }
  }

  /** Whether the failure of a check makes the engine ill. Counts failures that may be temporary. */
  #makesIll(error: unknown): boolean {
    if (isUnreachable(error) || error instanceof UpstreamAnswerError) return true;
    this.#timeouts += 1;
    return this.#timeouts >= maxTimeouts;
  }

  #setState(state: EngineState): void {
    if (isDeepStrictEqual(state, this.#state)) return;
    const { log, onChange } = this.#options;
    if (this.#state.isHealthy && !state.isHealthy) log.warn('the engine is ill: the worker takes no jobs');
    if (!this.#state.isHealthy && state.isHealthy) log.info('the engine is healthy again');
    this.#state = state;
    onChange(state);
  }

  /** Waits until the next check is due, or a job finds the engine unreachable. */
  async #pause(): Promise<void> {
    const ms = this.#options.healthEveryMs * (0.8 + Math.random() * 0.4);
    const signal = AbortSignal.any([this.#stop.signal, this.#wake.signal]);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
    if (this.#wake.signal.aborted) this.#wake = new AbortController();
  }
}

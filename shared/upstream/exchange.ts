import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { RouterError } from '#shared/core/errors.ts';

/**
 * The part of the answer in a chunk:
 *
 * - `nothing`: less than a piece, or none of the answer;
 * - `more`: a piece;
 * - `finished`: a piece after which at most the usage or another choice can follow;
 * - `complete`: the rest of the answer.
 */
export type Progress = 'nothing' | 'more' | 'finished' | 'complete';

/** Receives an answer as it arrives. If a method throws, the connection closes and the exchange fails. */
export interface AnswerListener {
  onStart(status: number, headers: IncomingHttpHeaders): void;
  onData(chunk: Buffer): Progress;
  /**
   * Called before the first chunk, which is passed on when the promise resolves; undefined if it may be passed on at once. For waits of
   * some milliseconds.
   */
  ready?: (() => Promise<void> | undefined) | undefined;
  /** Called after each chunk. The upstream is not read until the promise resolves; undefined if reading may go on. */
  room?: (() => Promise<void> | undefined) | undefined;
}

export interface ExchangeTimeouts {
  firstMs: number;
  idleMs: number;
}

/** Milliseconds after the end of a choice in which its usage, or another choice, may still arrive. Then the answer is complete. */
const usageMs = 2000;

/** Milliseconds that the upstream has to end a complete answer, so that the connection can be reused. Then the connection is closed. */
const drainMs = 1000;

/**
 * One request and its answer, from dispatch to end, within its timeouts.
 * States: waiting (no piece yet) → answering (at least one piece) → complete; waiting, answering → failed. In `complete` the upstream's
 * last bytes are still read, for a bounded time; `done` has resolved.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves when the answer is complete. Rejects with the signal's reason, a RouterError, or the connection's error. */
  readonly done: Promise<void>;
  readonly #listener: AnswerListener;
  readonly #timeouts: ExchangeTimeouts;
  readonly #signal: AbortSignal;
  readonly #outcome: { resolve: () => void; reject: (reason: unknown) => void };
  readonly #onAbort = (): void => this.#fail(this.#signal.reason);
  #state: 'waiting' | 'answering' | 'complete' | 'failed' = 'waiting';
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #firstAt: number | undefined;
  /** Chunks that have arrived and are not passed on yet. */
  #chunks: Buffer[] = [];
  /** Whether reading is paused. Silence is then not the upstream's fault. */
  #isPaused = false;
  /** Whether arrived chunks wait until the listener is ready. */
  #hold: 'before' | 'holding' | 'over' = 'before';
  /** Handles the end of an answer that arrived while chunks waited. */
  #held: (() => void) | undefined;
  #timer: NodeJS.Timeout;
  /** Whether the time of `#timer` is over. */
  #isDue = false;

  constructor(listener: AnswerListener, timeouts: ExchangeTimeouts, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    this.#outcome = { resolve, reject };
    this.#listener = listener;
    this.#timeouts = timeouts;
    this.#signal = signal;
    this.#timer = this.#wait(timeouts.firstMs, () =>
      this.#exceed(`The upstream gave no answer within ${timeouts.firstMs} ms.`),
    );
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get status(): number | undefined {
    return this.#status;
  }

  /** When the first piece of a streamed answer arrived, in milliseconds of `performance.now()`. */
  get firstAt(): number | undefined {
    return this.#firstAt;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#state === 'failed') controller.abort(new Error('the request was cancelled'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // The controller lives as long as the answer, and would keep the memory that the head was read into.
    controller.rawHeaders = null;
    if (this.#state === 'failed') return;
    this.#status = status;
    this.#guard(() => this.#listener.onStart(status, headers));
  }

  /**
   * Collects chunks. A read of the socket may give hundreds of chunks of the body, one for each token. They are passed on together, right
   * after the read.
   */
  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#chunks.push(chunk) === 1) queueMicrotask(() => this.#pass());
  }

  onResponseEnd(): void {
    this.#pass();
    if (this.#hold === 'holding') {
      this.#held = () => this.onResponseEnd();
      return;
    }
    this.#stopWaiting();
    if (this.#state === 'waiting' || this.#state === 'answering') this.#succeed();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#hold = 'over';
    this.#pass();
    this.#fail(error);
  }

  #pass(): void {
    const [first] = this.#chunks;
    if (!first || this.#holds()) return;
    const chunk = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [];
    if (this.#state === 'failed' || this.#state === 'complete') return;
    this.#guard(() => {
      const progress = this.#listener.onData(chunk);
      if (progress !== 'nothing') this.#firstAt ??= performance.now();
      if (progress === 'complete') this.#complete();
      else if (progress === 'finished') this.#finished();
      else if (progress === 'more') this.#answering();
      const room = progress === 'complete' ? undefined : this.#listener.room?.();
      if (room && this.#controller && !this.#isPaused) this.#pause(this.#controller, room);
    });
  }

  /** Whether the first chunk waits until the listener is ready. */
  #holds(): boolean {
    if (this.#hold !== 'before') return this.#hold === 'holding';
    const ready = this.#listener.ready?.();
    this.#hold = ready ? 'holding' : 'over';
    void ready?.then(() => {
      this.#hold = 'over';
      this.#pass();
      this.#held?.();
    });
    return ready !== undefined;
  }

  #answering(): void {
    if (this.#state === 'answering') return this.#waitAgain();
    this.#state = 'answering';
    this.#stopWaiting();
    const { idleMs } = this.#timeouts;
    this.#timer = this.#wait(idleMs, () => this.#exceed(`The upstream stopped answering for ${idleMs} ms.`));
  }

  /**
   * Calls back after a time without an answer. Timers run before sockets are read, so what arrived while this process was blocked is read
   * first.
   */
  #wait(ms: number, onSilence: () => void): NodeJS.Timeout {
    this.#isDue = false;
    return setTimeout(() => {
      this.#isDue = true;
      setImmediate(() => {
        if (!this.#isDue) return;
        if (this.#isPaused) this.#waitAgain();
        else onSilence();
      });
    }, ms);
  }

  #stopWaiting(): void {
    this.#isDue = false;
    clearTimeout(this.#timer);
  }

  #waitAgain(): void {
    this.#isDue = false;
    this.#timer.refresh();
  }

  /** Completes an answer that the upstream has finished but does not close, after `usageMs`. */
  #finished(): void {
    this.#state = 'answering';
    this.#stopWaiting();
    this.#timer = this.#wait(usageMs, () => this.#complete());
  }

  #exceed(message: string): void {
    this.#fail(new RouterError('upstream_timeout', message));
  }

  #pause(controller: Dispatcher.DispatchController, room: Promise<void>): void {
    this.#isPaused = true;
    controller.pause();
    const resume = (): void => {
      this.#isPaused = false;
      if (this.#state === 'waiting' || this.#state === 'answering') this.#waitAgain();
      controller.resume();
    };
    void room.then(resume);
  }

  #complete(): void {
    this.#stopWaiting();
    this.#succeed();
    this.#timer = setTimeout(() => this.#controller?.abort(new Error('the complete answer did not end')), drainMs);
  }

  #succeed(): void {
    this.#state = 'complete';
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#outcome.resolve();
  }

  #fail(reason: unknown): void {
    this.#stopWaiting();
    if (this.#state === 'complete' || this.#state === 'failed') return;
    this.#state = 'failed';
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#outcome.reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('the request was cancelled'));
  }

  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { RouterError } from '#shared/core/errors.ts';

/** Who takes an answer as it comes. Either method may throw, which closes the connection and fails the exchange. */
export interface Listener {
  onStart(status: number, headers: IncomingHttpHeaders): void;
  /** Tells whether the answer goes on, was heard nothing of yet, or is complete, whatever the upstream still sends. */
  onData(chunk: Buffer): 'nothing' | 'more' | 'complete';
}

/** How long to wait, in milliseconds: for the first piece of the answer and between two pieces. */
export interface Patience {
  firstMs: number;
  idleMs: number;
}

/** How long an upstream may take to end its answer properly, so that the connection can be used again. */
const drainMs = 1000;

/**
 * One request and its answer, from dispatch to end, with its time watched.
 * States: waiting (nothing heard) → answering (a piece was heard) → complete; any of them → failed. `complete` still
 * reads the upstream's last bytes, for a bounded time, but `done` is settled.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves when the answer is complete. Rejects with the signal's reason, a RouterError, or the connection's error. */
  readonly done: Promise<void>;
  readonly #listener: Listener;
  readonly #patience: Patience;
  readonly #signal: AbortSignal;
  readonly #settle: { resolve: () => void; reject: (reason: unknown) => void };
  readonly #onAbort = (): void => this.#fail(this.#signal.reason);
  #state: 'waiting' | 'answering' | 'complete' | 'failed' = 'waiting';
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #firstAt: number | undefined;
  #timer: NodeJS.Timeout;

  constructor(listener: Listener, patience: Patience, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    this.#settle = { resolve, reject };
    this.#listener = listener;
    this.#patience = patience;
    this.#signal = signal;
    this.#timer = setTimeout(() => {
      this.#fail(new RouterError('upstream_timeout', `The upstream gave no answer within ${patience.firstMs} ms.`));
    }, patience.firstMs);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The answer's status, when there is one. */
  get status(): number | undefined {
    return this.#status;
  }

  /** When the first piece of a streamed answer was heard, a time of `performance.now()`. */
  get firstAt(): number | undefined {
    return this.#firstAt;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#state === 'failed') controller.abort(new Error('the request was given up'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#state === 'failed') return;
    this.#status = status;
    this.#guard(() => this.#listener.onStart(status, headers));
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state === 'failed' || this.#state === 'complete') return;
    this.#guard(() => {
      const heard = this.#listener.onData(chunk);
      if (heard !== 'nothing') this.#firstAt ??= performance.now();
      if (heard === 'complete') this.#complete();
      else if (heard === 'more') this.#answering();
    });
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    if (this.#state === 'waiting' || this.#state === 'answering') this.#succeed();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #answering(): void {
    if (this.#state === 'answering') {
      this.#timer.refresh();
      return;
    }
    this.#state = 'answering';
    clearTimeout(this.#timer);
    const { idleMs } = this.#patience;
    this.#timer = setTimeout(() => {
      this.#fail(new RouterError('upstream_timeout', `The upstream stopped answering for ${idleMs} ms.`));
    }, idleMs);
  }

  #complete(): void {
    clearTimeout(this.#timer);
    this.#succeed();
    this.#timer = setTimeout(() => this.#controller?.abort(new Error('the answer did not end')), drainMs);
  }

  #succeed(): void {
    this.#state = 'complete';
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#settle.resolve();
  }

  #fail(reason: unknown): void {
    clearTimeout(this.#timer);
    if (this.#state === 'complete' || this.#state === 'failed') return;
    this.#state = 'failed';
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#settle.reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('the request was given up'));
  }

  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }
}

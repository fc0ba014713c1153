import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { RouterError } from '#shared/core/errors.ts';

/**
 * The progress that a chunk makes:
 *
 * - `nothing`: the chunk completes no piece of the answer;
 * - `more`: the chunk completes a piece;
 * - `finished`: only the usage or another choice can follow;
 * - `complete`: the answer is complete.
 */
export type Progress = 'nothing' | 'more' | 'finished' | 'complete';

/** Receives an answer as it arrives. If a method throws, the connection closes and the exchange fails. */
export interface AnswerListener {
  onStart(status: number, headers: IncomingHttpHeaders): void;
  onData(chunk: Buffer): Progress;
  /**
   * Called before the first chunk. The chunk waits until the promise resolves, for some milliseconds at most. Returns undefined if the
   * chunk need not wait.
   */
  waitUntilReady?: (() => Promise<void> | undefined) | undefined;
  /** Called after each chunk. Reading pauses until the promise resolves. Returns undefined if reading may continue. */
  waitForRoom?: (() => Promise<void> | undefined) | undefined;
}

/** Maximum milliseconds until the first piece of the answer, and between two pieces. */
export interface ExchangeTimeouts {
  firstMs: number;
  idleMs: number;
}

/** Milliseconds to wait for the usage, or another choice, after the end of a choice. Then the answer counts as complete. */
const usageWaitMs = 2000;

/** Milliseconds to wait for the end of a complete answer, after which the connection can be used again. Then the connection is closed. */
const endWaitMs = 1000;

/**
 * One request and its answer, from dispatch to end, within its timeouts.
 * States: waiting (no piece yet) → answering (more pieces follow) ⇄ finished (only the usage or another choice can follow) → complete. Each
 * state before `complete` can also change to `complete` or `failed`. When the exchange becomes complete, `done` resolves. The last bytes of
 * the upstream are then read for at most `endWaitMs`.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves when the answer is complete. Rejects with the signal's reason, a RouterError, or the connection's error. */
  readonly done: Promise<void>;
  readonly #listener: AnswerListener;
  readonly #timeouts: ExchangeTimeouts;
  readonly #signal: AbortSignal;
  readonly #outcome: { resolve: () => void; reject: (reason: unknown) => void };
  readonly #onAbort = (): void => this.#fail(this.#signal.reason);
  #state: 'waiting' | 'answering' | 'finished' | 'complete' | 'failed' = 'waiting';
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #firstPieceAt: number | undefined;
  /** Chunks that have arrived and were not passed on yet. */
  #chunks: Buffer[] = [];
  /** Whether reading is paused. The upstream is then not to blame for silence. */
  #isPaused = false;
  /** Whether arrived chunks wait until the listener is ready. `before`: the listener was not asked yet. */
  #hold: 'before' | 'holding' | 'over' = 'before';
  /** Handles an end of the answer that arrived while chunks waited. */
  #heldEnd: (() => void) | undefined;
  #timer: NodeJS.Timeout;
  /** Whether the time of `#timer` is over and no chunk has arrived since. */
  #isDue = false;

  constructor(listener: AnswerListener, timeouts: ExchangeTimeouts, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    this.#outcome = { resolve, reject };
    this.#listener = listener;
    this.#timeouts = timeouts;
    this.#signal = signal;
    this.#timer = this.#startTimer(timeouts.firstMs, () =>
      this.#failWithTimeout(`The upstream gave no answer within ${timeouts.firstMs} ms.`),
    );
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get #isOver(): boolean {
    return this.#state === 'complete' || this.#state === 'failed';
  }

  get status(): number | undefined {
    return this.#status;
  }

  /** Time at which the first piece of a streamed answer arrived, in milliseconds of `performance.now()`. */
  get firstPieceAt(): number | undefined {
    return this.#firstPieceAt;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#state === 'failed') controller.abort(new Error('the request was cancelled'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // The controller lives as long as the answer. Its raw headers would keep the whole memory block of the head.
    controller.rawHeaders = null;
    if (this.#state === 'failed') return;
    this.#status = status;
    this.#guard(() => this.#listener.onStart(status, headers));
  }

  /**
   * Collects chunks, and passes them on together right after the socket is read. One read may give hundreds of chunks of the body, one for
   * each token.
   */
  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#chunks.push(chunk) === 1) queueMicrotask(() => this.#passChunks());
  }

  onResponseEnd(): void {
    this.#passChunks();
    if (this.#hold === 'holding') {
      this.#heldEnd = () => this.onResponseEnd();
      return;
    }
    this.#stopTimer();
    if (!this.#isOver) this.#succeed();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#hold = 'over';
    this.#passChunks();
    this.#fail(error);
  }

  #passChunks(): void {
    const [first] = this.#chunks;
    if (!first || this.#mustHoldChunks()) return;
    const chunk = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [];
    if (this.#isOver) return;
    this.#guard(() => {
      const progress = this.#listener.onData(chunk);
      if (progress !== 'nothing') this.#firstPieceAt ??= performance.now();
      if (progress === 'complete') this.#complete();
      else if (progress === 'finished') this.#waitForUsage();
      else if (progress === 'more') this.#waitForMore();
      const room = progress === 'complete' ? undefined : this.#listener.waitForRoom?.();
      if (room && this.#controller && !this.#isPaused) this.#pause(this.#controller, room);
    });
  }

  /** Whether chunks must wait until the listener is ready. The first call asks the listener. */
  #mustHoldChunks(): boolean {
    if (this.#hold !== 'before') return this.#hold === 'holding';
    const ready = this.#listener.waitUntilReady?.();
    this.#hold = ready ? 'holding' : 'over';
    void ready?.then(() => {
      this.#hold = 'over';
      this.#passChunks();
      this.#heldEnd?.();
    });
    return ready !== undefined;
  }

  #waitForMore(): void {
    if (this.#state === 'answering') return this.#restartTimer();
    this.#state = 'answering';
    this.#stopTimer();
    const { idleMs } = this.#timeouts;
    this.#timer = this.#startTimer(idleMs, () =>
      this.#failWithTimeout(`The upstream stopped answering for ${idleMs} ms.`),
    );
  }

  /**
   * Calls `onSilence` after a time without an answer, not counting pauses of reading. Timers run before sockets are read, so bytes that
   * arrived while this process was blocked are read first.
   */
  #startTimer(ms: number, onSilence: () => void): NodeJS.Timeout {
    this.#isDue = false;
    return setTimeout(() => {
      this.#isDue = true;
      setImmediate(() => {
        if (!this.#isDue) return;
        if (this.#isPaused) this.#restartTimer();
        else onSilence();
      });
    }, ms);
  }

  #stopTimer(): void {
    this.#isDue = false;
    clearTimeout(this.#timer);
  }

  #restartTimer(): void {
    this.#isDue = false;
    this.#timer.refresh();
  }

  /** Waits for the usage of an answer whose choice has ended. Completes the answer after `usageWaitMs` if the upstream does not end it. */
  #waitForUsage(): void {
    this.#state = 'finished';
    this.#stopTimer();
    this.#timer = this.#startTimer(usageWaitMs, () => this.#complete());
  }

  #failWithTimeout(message: string): void {
    this.#fail(new RouterError('upstream_timeout', message));
  }

  #pause(controller: Dispatcher.DispatchController, room: Promise<void>): void {
    this.#isPaused = true;
    controller.pause();
    const resume = (): void => {
      this.#isPaused = false;
      if (!this.#isOver) this.#restartTimer();
      controller.resume();
    };
    void room.then(resume);
  }

  #complete(): void {
    this.#stopTimer();
    this.#succeed();
    this.#timer = setTimeout(() => this.#controller?.abort(new Error('the complete answer did not end')), endWaitMs);
  }

  #succeed(): void {
    this.#state = 'complete';
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#outcome.resolve();
  }

  #fail(reason: unknown): void {
    this.#stopTimer();
    if (this.#isOver) return;
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

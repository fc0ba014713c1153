import { Gauge, type Registry } from 'prom-client';
import type { Logger } from '#shared/core/log.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { CliProcess } from '../process/cli-process.ts';
import type { LiveSession } from './live-session.ts';
import { readMemory } from './read-memory.ts';

export interface ProcessSetOptions<Session> {
  start: (signal: AbortSignal) => Promise<LiveSession<Session>>;
  /** Maximum number of conversations at once, and number of processes to have ready while there is no conversation. */
  size: number;
  /** Whether a process is replaced after each conversation. */
  isSingleUse: boolean;
  /** Number of conversations after which a process is replaced. */
  recycleAfter: number;
  /** Bytes of memory above which a process is replaced. */
  recycleBytes: number;
  log: Logger;
  /** Called with false when no process can be started, and with true when a process has started again. */
  onHealth: (healthy: boolean) => void;
}

export interface Lease<Session> {
  readonly session: Session;
  /** Reports that the answer has begun. The set uses the time until the answer ends to start the next process. */
  reportBegun(): void;
  /** Returns the session to the set. If the conversation did not end well, the set closes the session. */
  release(endedWell: boolean): void;
}

export interface ProcessCounts {
  ready: number;
  held: number;
  starting: number;
}

interface ProcessEntry<Session> {
  live: LiveSession<Session>;
  conversations: number;
}

interface Waiter<Session> {
  take: (entry: ProcessEntry<Session>) => void;
  refuse: (error: unknown) => void;
}

/** Consecutive failed starts after which the set reports that no process can be started. */
const maxFailedStarts = 2;

/** Milliseconds from a failure to the next start. The time doubles with each consecutive failure. */
const firstPauseMs = 250;
const maxPauseMs = 30_000;

/**
 * Keeps as many CLI processes ready as there may be conversations, so that no conversation waits for a start.
 *
 * States of a process: starting → ready → held → ready … → closed. A held process serves one conversation. A process is closed after its
 * last conversation, after a conversation that did not end well, when it uses too much memory, or when it ends by itself. Another process
 * then replaces it. While a single-use process is held, the set has one more process, so that a process is ready for the next conversation.
 */
export class ProcessSet<Session extends { process: CliProcess }> {
  readonly #options: ProcessSetOptions<Session>;
  readonly #ready: ProcessEntry<Session>[] = [];
  readonly #held = new Set<ProcessEntry<Session>>();
  readonly #closing = new Set<Promise<void>>();
  readonly #starting = new Set<Promise<void>>();
  readonly #waiters: Waiter<Session>[] = [];
  readonly #stop = new AbortController();
  #isHealthy = true;
  /** Number of consecutive failures of starts and of ready processes. */
  #failures = 0;
  /** Number of consecutive failed starts. Starts that ran at the same time count as one, because one cause may end all of them. */
  #failedStarts = 0;
  #pauseTimer: NodeJS.Timeout | undefined;

  constructor(options: ProcessSetOptions<Session>) {
    this.#options = options;
    this.#startMissing();
  }

  get ready(): number {
    return this.#ready.length;
  }

  get counts(): ProcessCounts {
    return { ready: this.#ready.length, held: this.#held.size, starting: this.#starting.size };
  }

  /**
   * Leases a session for one conversation. If no session is ready, waits until one is.
   * @throws RouterError if no process can be started
   * @throws the signal's reason
   */
  async lease(signal: AbortSignal): Promise<Lease<Session>> {
    signal.throwIfAborted();
    const entry = this.#takeReady() ?? (await this.#wait(signal));
    this.#held.add(entry);
    entry.live.session.process.stopKeepingStderr();
    return this.#createLease(entry);
  }

  /** Ends all processes, including those that a conversation holds, and removes their folders. */
  async close(): Promise<void> {
    this.#stop.abort(new RouterError('shutting_down', 'The worker is being restarted.'));
    clearTimeout(this.#pauseTimer);
    for (const waiter of this.#waiters.splice(0)) waiter.refuse(this.#stop.signal.reason);
    await Promise.all(this.#starting);
    for (const entry of [...this.#ready.splice(0), ...this.#held]) this.#close(entry);
    await Promise.all(this.#closing);
  }

  /** Removes and returns the session that has been ready longest. Closes sessions with a process that has just ended. */
  #takeReady(): ProcessEntry<Session> | undefined {
    for (let entry = this.#ready.shift(); entry; entry = this.#ready.shift()) {
      if (entry.live.session.process.isRunning) return entry;
      this.#close(entry);
    }
    return undefined;
  }

  #createLease(entry: ProcessEntry<Session>): Lease<Session> {
    let released = false;
    return {
      session: entry.live.session,
      reportBegun: () => this.#startMissing(),
      release: (endedWell) => {
        if (released) return;
        released = true;
        this.#release(entry, endedWell).catch((error: unknown) => {
          this.#options.log.error({ err: error }, 'a CLI session could not be released');
        });
      },
    };
  }

  async #release(entry: ProcessEntry<Session>, endedWell: boolean): Promise<void> {
    entry.conversations += 1;
    const isReusable = endedWell && !(await this.#mustBeReplaced(entry));
    this.#held.delete(entry);
    if (isReusable && !this.#stop.signal.aborted && entry.live.session.process.isRunning) this.#addReady(entry);
    else this.#close(entry);
    this.#startMissing();
  }

  async #mustBeReplaced({ conversations, live }: ProcessEntry<Session>): Promise<boolean> {
    const { isSingleUse, recycleAfter, recycleBytes } = this.#options;
    if (isSingleUse || conversations >= recycleAfter) return true;
    const { pid } = live.session.process;
    return pid === undefined || (await readMemory(pid)) > recycleBytes;
  }

  #wait(signal: AbortSignal): Promise<ProcessEntry<Session>> {
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        const index = this.#waiters.indexOf(waiter);
        if (index !== -1) this.#waiters.splice(index, 1);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        stopWaiting();
        reject(signal.reason);
      };
      const waiter: Waiter<Session> = {
        take: (entry) => {
          stopWaiting();
          resolve(entry);
        },
        refuse: (error) => {
          stopWaiting();
          reject(error);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(waiter);
      this.#startMissing();
    });
  }

  /** Gives a ready session to the first waiter, or keeps it. */
  #addReady(entry: ProcessEntry<Session>): void {
    const waiter = this.#waiters[0];
    if (!waiter) {
      this.#ready.push(entry);
      return;
    }
    // The session must count as held before the waiter runs.
    this.#held.add(entry);
    waiter.take(entry);
  }

  #startMissing(): void {
    if (this.#stop.signal.aborted || this.#pauseTimer !== undefined) return;
    const { size, isSingleUse } = this.#options;
    const wantedCount = isSingleUse && this.#held.size > 0 ? size + 1 : size;
    const countAlive = (): number => this.#ready.length + this.#held.size + this.#starting.size;
    while (countAlive() < wantedCount) {
      const starting = this.#start();
      this.#starting.add(starting);
      void starting.finally(() => {
        this.#starting.delete(starting);
        this.#startMissing();
      });
    }
  }

  /** Starts one process. Never rejects. */
  async #start(): Promise<void> {
    const { start, log } = this.#options;
    const failedBefore = this.#failedStarts;
    try {
      const live = await start(this.#stop.signal);
      if (this.#stop.signal.aborted) {
        await live.close();
        return;
      }
      this.#failures = 0;
      this.#failedStarts = 0;
      this.#reportHealth(true);
      const entry: ProcessEntry<Session> = { live, conversations: 0 };
      void live.session.process.whenEnded.then(({ how }) => this.#onEnded(entry, how));
      this.#addReady(entry);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      log.error({ err: error }, 'the CLI could not be started');
      this.#pauseStarts();
      if (this.#failedStarts === failedBefore) this.#failedStarts += 1;
      // One process may fail by chance. The waiters then get the next one.
      if (this.#failedStarts < maxFailedStarts) return;
      for (const waiter of this.#waiters.splice(0)) waiter.refuse(error);
      if (this.#ready.length === 0 && this.#held.size === 0) this.#reportHealth(false);
    }
  }

  #reportHealth(healthy: boolean): void {
    if (healthy === this.#isHealthy) return;
    this.#isHealthy = healthy;
    this.#options.onHealth(healthy);
  }

  /**
   * Replaces a ready process that has ended. A held process that ends needs nothing here, because its conversation fails and releases it.
   */
  #onEnded(entry: ProcessEntry<Session>, how: string): void {
    const index = this.#ready.indexOf(entry);
    if (index === -1) return;
    this.#ready.splice(index, 1);
    this.#options.log.warn({ how, stderr: entry.live.session.process.stderr }, 'a CLI process has ended by itself');
    this.#close(entry);
    this.#pauseStarts();
  }

  /** Pauses starts. The pause is longer with each consecutive failure. */
  #pauseStarts(): void {
    clearTimeout(this.#pauseTimer);
    const ms = Math.min(maxPauseMs, firstPauseMs * 2 ** this.#failures);
    this.#failures += 1;
    this.#pauseTimer = setTimeout(() => {
      this.#pauseTimer = undefined;
      this.#startMissing();
    }, ms);
  }

  #close(entry: ProcessEntry<Session>): void {
    const closing = entry.live.close();
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}

/** Adds the numbers of the CLI's processes in each state to the worker's metrics. */
export function addProcessMetrics(registry: Registry, read: () => ProcessCounts): void {
  const processes: Gauge<'state'> = new Gauge({
    name: 'rtr_cli_processes',
    help: "Processes of a cli worker's CLI: ready for a conversation, held by one, or starting",
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      for (const [state, count] of Object.entries(read())) processes.set({ state }, count);
    },
  });
}

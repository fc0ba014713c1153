import { recordChildren } from './running-children.ts';
import type { LogRelay } from '../../logs/log-relay.ts';
import { SupervisedChild, type SupervisionOptions } from './supervised-child.ts';
import { UpError } from '../up-error.ts';

/** Supervises all programs of a cluster or a box, and records their processes so that a later start finds processes that were left behind. */
export class Children {
  readonly #folder: string;
  readonly #logs: LogRelay;
  readonly #all = new Set<SupervisedChild>();
  readonly #failure = new AbortController();
  #isClosed = false;

  constructor(folder: string, logs: LogRelay) {
    this.#folder = folder;
    this.#logs = logs;
  }

  /** Aborts, with an UpError as its reason, when a necessary program cannot be kept running. */
  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  /**
   * Starts a program, keeps it running, and relays its log. If a necessary program cannot be kept running, the cluster ends.
   * @throws the errors of the program's first start
   */
  async start(name: string, isNecessary: boolean, start: SupervisionOptions['start']): Promise<SupervisedChild> {
    if (this.#isClosed) throw new UpError(`${name} is not started: everything is being stopped.`);
    const child = await SupervisedChild.start({
      name,
      start: async (stop) => {
        const child = await start(stop);
        this.#logs.follow(name, child);
        return child;
      },
      onUnexpectedEnd: (sentence) => {
        this.#record();
        this.#logs.write('error', sentence);
      },
      onGiveUp: (reason) => {
        this.#record();
        if (isNecessary) this.#failure.abort(new UpError(reason));
        else this.#logs.write('error', `${reason} The others continue without it.`);
      },
      onChange: () => this.#record(),
    });
    // A program that was given up may have been started anew.
    for (const other of this.#all) if (other.name === name && !other.isActive) this.#all.delete(other);
    this.#all.add(child);
    this.#record();
    return child;
  }

  /** Stops the programs that still run, for instance after an interrupted start. Afterwards no program can be started. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((child) => child.stop(timeoutMs)));
  }

  killAll(): void {
    for (const child of this.#all) child.kill();
  }

  #record(): void {
    for (const child of this.#all) {
      const { end } = child.lastProcess;
      if (!child.isActive && child.pid === undefined && end === undefined) this.#all.delete(child);
    }
    const records = [...this.#all].map((child) => ({ name: child.name, ...child.lastProcess }));
    recordChildren(this.#folder, records);
  }
}

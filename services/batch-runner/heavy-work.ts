import type { UnfinishedWork } from '#shared/store/redis/unfinished-work.ts';
import { RouterError } from '#shared/core/errors.ts';

/**
 * Reading a request or an answer of at least this many bytes counts as heavy work. Reading needs several times as many bytes of memory, so
 * that the process may run out of memory and die.
 */
export const heavyBytes = 4 * 1024 * 1024;

/** A task is not tried again after this many processes have died during it. */
const maxDeaths = 2;

/** The heavy work on one batch line or one response. It may begin and end several times. */
export interface HeavyTask {
  /**
   * Waits until no other heavy task runs in this process, and begins this task. Does nothing if this task has begun already.
   * @returns an error if the task must not be done, because two processes died while they did it
   * @throws RouterError `store_unavailable`
   */
  begin: () => Promise<RouterError | undefined>;
  /** Ends the task, which may begin again later. Does nothing if the task has not begun. */
  end: () => void;
}

/**
 * Runs the heavy tasks of this process one at a time. That bounds the memory of the process, and identifies the task during which the
 * process died. After two such deaths, a task is not tried again. Waiting for a worker, a slot or an answer does not count as heavy work,
 * because the death of a process at such a time does not point to a task.
 */
export class HeavyWork {
  readonly #unfinishedWork: Pick<UnfinishedWork, 'begin' | 'end'>;
  /** Resolves when the task that began last has ended. */
  #lastTask: Promise<void> = Promise.resolve();

  constructor(unfinishedWork: Pick<UnfinishedWork, 'begin' | 'end'>) {
    this.#unfinishedWork = unfinishedWork;
  }

  /**
   * Creates a task that has not begun.
   * @param name unique name of the task
   */
  createTask(name: string): HeavyTask {
    let endTurn: (() => void) | undefined;
    const end = (): void => {
      if (!endTurn) return;
      endTurn();
      endTurn = undefined;
      // A failure leaves only this process's own mark, which does not count when this process begins the task again.
      void this.#unfinishedWork.end(name).catch(() => undefined);
    };
    const begin = async (): Promise<RouterError | undefined> => {
      if (endTurn) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      const previousTask = this.#lastTask;
      endTurn = resolve;
      this.#lastTask = previousTask.then(() => promise);
      await previousTask;
      let deaths: number;
      try {
        deaths = await this.#unfinishedWork.begin(name);
      } catch (error) {
        end();
        throw error;
      }
      if (deaths < maxDeaths) return undefined;
      end();
      return new RouterError('workers_died', 'Two processes of the router ended while they worked on this request.');
    };
    return { begin, end };
  }
}

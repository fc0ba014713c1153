import type { UnfinishedWork } from '#shared/accounts/redis/unfinished-work.ts';
import { RouterError } from '#shared/core/errors.ts';

/**
 * Bytes of a request or an answer from which reading it counts as heavy work: it takes several times as much memory, so that it may end the
 * process.
 */
export const heavyBytes = 4 * 1024 * 1024;

/** Processes that may end during the same piece of work. */
const maxEnds = 2;

/** Tracks the heavy work on a batch line or a response. */
export interface HeavyTask {
  /**
   * Begins heavy work as soon as no other piece of this process is doing any. Does nothing if it has begun.
   * @returns an error if the work must not be done, because two processes have ended while they did it
   * @throws RouterError `store_unavailable`
   */
  begin: () => Promise<RouterError | undefined>;
  /** Ends heavy work, for now or for good. Does nothing if it has not begun. */
  end: () => void;
}

/**
 * Runs the heavy work of this process one piece at a time. That bounds its memory, and identifies the piece that ended a process: after two
 * such ends a piece is not tried again. Waiting for a worker, a slot or an answer does not count as heavy work: the end of a process at
 * such a time does not point to a piece.
 */
export class HeavyWork {
  readonly #begun: Pick<UnfinishedWork, 'begin' | 'end'>;
  /** Resolves when the piece that began last has ended. */
  #last: Promise<void> = Promise.resolve();

  constructor(begun: Pick<UnfinishedWork, 'begin' | 'end'>) {
    this.#begun = begun;
  }

  /** @param work unique name of the piece */
  createPiece(work: string): HeavyTask {
    let give: (() => void) | undefined;
    const end = (): void => {
      if (!give) return;
      give();
      give = undefined;
      // A failure leaves only this process's own mark, which does not count when this process begins the work again.
      void this.#begun.end(work).catch(() => undefined);
    };
    const begin = async (): Promise<RouterError | undefined> => {
      if (give) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = this.#last;
      give = resolve;
      this.#last = before.then(() => promise);
      await before;
      let ends: number;
      try {
        ends = await this.#begun.begin(work);
      } catch (error) {
        end();
        throw error;
      }
      if (ends < maxEnds) return undefined;
      end();
      return new RouterError('workers_died', 'Two processes of the router ended while they worked on this request.');
    };
    return { begin, end };
  }
}

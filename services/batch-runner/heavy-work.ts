import type { BegunWork } from '#shared/accounts/redis/begun-work.ts';
import { RouterError } from '#shared/core/errors.ts';

/**
 * Bytes of a request or an answer from which on reading it is heavy: that takes several times as much memory, so that it may end the
 * process.
 */
export const heavyBytes = 4 * 1024 * 1024;

/** Processes that may end while they do the same piece of work. */
const maxEnds = 2;

/** A line of a batch, or a response: what of its work is heavy. */
export interface HeavyPiece {
  /**
   * Begins what is heavy, once no other piece of this process does that. Does nothing if it has begun.
   * @returns why it is not to be done: two processes have ended while they did it
   * @throws RouterError `store_unavailable`
   */
  begin: () => Promise<RouterError | undefined>;
  /** Ends it, for now or for good. Does nothing if it has not begun. */
  end: () => void;
}

/**
 * Heavy work of this process. One piece at a time is done, so that the memory that it takes is bounded, and so that it is known which one
 * ended the process: a piece that has ended two is not done again. What waits for a worker, a slot or an answer is not heavy meanwhile:
 * a process that is killed at any other time says nothing about its work.
 */
export class HeavyWork {
  readonly #begun: Pick<BegunWork, 'begin' | 'end'>;
  /** Resolves when the piece is over that was begun last. */
  #last: Promise<void> = Promise.resolve();

  constructor(begun: Pick<BegunWork, 'begin' | 'end'>) {
    this.#begun = begun;
  }

  /** @param work name of the piece, which tells it from all others */
  open(work: string): HeavyPiece {
    let give: (() => void) | undefined;
    const end = (): void => {
      if (!give) return;
      give();
      give = undefined;
      // Where that fails, no other process has begun it for that reason: this one does not count itself.
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

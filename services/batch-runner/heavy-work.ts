import type { UnfinishedWork } from '#shared/accounts/redis/unfinished-work.ts';
import { RouterError } from '#shared/core/errors.ts';

/**
 * Bytes of a request or an answer from which reading it counts as heavy work. Reading needs several times as much memory, so that it may
 * end the process.
 */
export const heavyBytes = 4 * 1024 * 1024;

/** Number of processes that have died during the same piece of work from which the piece is not tried again. */
const maxEnds = 2;

/** Tracks the heavy work on a batch line or a response. */
export interface HeavyTask {
  /**
   * Waits until no other piece of heavy work runs in this process, and begins. Does nothing if this piece has begun already.
   * @returns an error if the work must not be done, because two processes died while they did it
   * @throws RouterError `store_unavailable`
   */
  begin: () => Promise<RouterError | undefined>;
  /** Ends heavy work, which may begin again later. Does nothing if it has not begun. */
  end: () => void;
}

/**
 * Runs the heavy work of this process one piece at a time. That bounds its memory, and identifies the piece during which a process died.
 * After two such deaths, a piece is not tried again. Waiting for a worker, a slot or an answer does not count as heavy work, because the
 * death of a process at such a time does not point to a piece.
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

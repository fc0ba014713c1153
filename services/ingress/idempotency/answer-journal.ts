import { setTimeout as pause } from 'node:timers/promises';
import type {
  AnswerEntry,
  AnswerHead,
  IdempotentAnswers,
  KeyedAttempt,
  RequestFacts,
} from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import type { Logger } from '#shared/core/log.ts';
import type { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';

/** Milliseconds after the first of several pieces until they are written together. */
const gatherMs = 50;
/** Largest number of bytes of one write, unless a single piece is longer. */
const bytesAtOnce = 128 * 1024;

/** Milliseconds between a failed write and the next one. */
const retryMs = 250;
/** Milliseconds after the end of an answer until its journal gives up writing. */
const endedMs = 60_000;

export interface JournalParts {
  answers: Pick<IdempotentAnswers, 'append' | 'finish' | 'answerBytes'>;
  /** Bounds the memory of all answers that are not written yet. */
  room: Pick<StoreQueueBudget, 'take' | 'release'>;
  log: Pick<Logger, 'warn'>;
}

interface Piece {
  bytes: Buffer;
  number: number;
}

/**
 * Writes an answer to Redis while it is produced. The memory of unwritten pieces is bounded. If they exceed the bound, or Redis does not
 * accept writes in time, the answer is not kept. Its client still gets it.
 */
export class AnswerJournal {
  readonly #of: KeyedAttempt;
  readonly #parts: JournalParts;
  #pieces: Piece[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #next = 0;
  /** Status, headers and facts of the request that are not written yet. */
  #news: Pick<AnswerEntry, 'head' | 'facts'> | undefined;
  #end: { kind: 'whole' | 'cut'; isFree: boolean; givenUpAt: number } | undefined;
  /** Whether the answer is not kept: `untold` until Redis is told so, then `told`. */
  #isLost: false | 'untold' | 'told' = false;
  /** Whether writing continues, because the execution still has its key, and its end was neither written nor given up. */
  #hasKey = true;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(of: KeyedAttempt, parts: JournalParts) {
    this.#of = of;
    this.#parts = parts;
  }

  /** Writes the status and the headers at once, and the facts of the request that are known so far. */
  writeHead(head: AnswerHead, facts: RequestFacts | undefined): void {
    this.#news = { head, facts };
    void this.#write();
  }

  /** Adds the next part of the answer. The caller must not reuse the memory of `bytes`, because the journal keeps it. */
  add(bytes: Buffer, number: number): void {
    this.#next = number + 1;
    if (this.#isLost !== false || !this.#hasKey) return;
    this.#bytes += bytes.length;
    if (this.#bytes > this.#parts.answers.answerBytes || !this.#parts.room.take(bytes.length)) {
      this.#lose('untold');
      void this.#write();
      return;
    }
    this.#waitingBytes += bytes.length;
    this.#pieces.push({ bytes, number });
    if (this.#waitingBytes >= bytesAtOnce) void this.#write();
    else this.#timer ??= setTimeout(() => void this.#write(), gatherMs);
  }

  /**
   * Writes the end of the answer. Resolves when it is written, or writing is given up.
   * @param kind `cut` for an answer whose connection was closed before its end
   * @param isFree whether the next request with the key is to be executed
   */
  async finish(kind: 'whole' | 'cut', isFree: boolean): Promise<void> {
    this.#end = { kind, isFree, givenUpAt: performance.now() + endedMs };
    // A write that is already running may finish without writing the end.
    while (this.#hasKey) await this.#write();
    this.drop();
  }

  /** Discards the unwritten pieces and stops writing. */
  drop(): void {
    this.#hasKey = false;
    clearTimeout(this.#timer);
    this.#lose('told');
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#hasKey) {
      const end = this.#waitingBytes <= bytesAtOnce ? this.#end : undefined;
      if (!end && this.#pieces.length === 0 && !this.#news && this.#isLost !== 'untold') return;
      const pieces = this.#pieces.splice(0, this.#countWithin(bytesAtOnce));
      const bytes = pieces.length === 0 ? undefined : Buffer.concat(pieces.map((piece) => piece.bytes));
      // If pieces were lost, this number shows the gap.
      const from = pieces[0]?.number ?? this.#next;
      const { head, facts } = this.#news ?? {};
      const entry = { from, last: pieces.at(-1)?.number ?? from, bytes, head, facts };
      this.#news = undefined;
      if (this.#isLost === 'untold') this.#isLost = 'told';
      await this.#writeOne(entry, end);
      this.#give(pieces);
    }
  }

  /** Repeats one write until Redis confirms it. Redis stores a repeated write only once. */
  async #writeOne(entry: AnswerEntry, end: { kind: 'whole' | 'cut'; isFree: boolean } | undefined): Promise<void> {
    const { answers, log } = this.#parts;
    while (this.#hasKey) {
      try {
        if (end) {
          await answers.finish(this.#of, entry, end.kind, end.isFree);
          this.#hasKey = false;
          return;
        }
        const outcome = await answers.append(this.#of, entry);
        if (outcome === 'superseded') this.#hasKey = false;
        if (outcome !== 'kept') this.#lose('told');
        return;
      } catch (err) {
        if (this.#end && performance.now() > this.#end.givenUpAt) {
          log.warn({ err }, 'the answer to an idempotency key is not kept: the store does not answer');
          this.#hasKey = false;
          return;
        }
        await pause(retryMs);
      }
    }
  }

  #countWithin(most: number): number {
    let bytes = 0;
    const beyond = this.#pieces.findIndex((piece, at) => (bytes += piece.bytes.length) > most && at > 0);
    return beyond === -1 ? this.#pieces.length : beyond;
  }

  #lose(known: 'untold' | 'told'): void {
    this.#isLost = known;
    this.#give(this.#pieces.splice(0));
  }

  #give(pieces: readonly Piece[]): void {
    for (const { bytes } of pieces) {
      this.#parts.room.release(bytes.length);
      this.#waitingBytes -= bytes.length;
    }
  }
}

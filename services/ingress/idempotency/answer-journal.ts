import { setTimeout as pause } from 'node:timers/promises';
import type {
  AnswerEntry,
  AnswerHead,
  IdempotentAnswers,
  KeyedAttempt,
  RequestFacts,
} from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import type { Logger } from '#shared/core/log.ts';
import type { StoringRoom } from '#shared/serving/stored/storing-room.ts';

/** Milliseconds for which pieces wait for others, and bytes that are written at once at most, unless one piece is longer. */
const gatherMs = 50;
const bytesAtOnce = 128 * 1024;

/** Milliseconds after a failed write until the next one, and after the end of an answer until it is given up. */
const retryMs = 250;
const endedMs = 60_000;

export interface JournalParts {
  answers: Pick<IdempotentAnswers, 'append' | 'finish' | 'answerBytes'>;
  /** Bounds what all answers have in memory until it is written. */
  room: Pick<StoringRoom, 'take' | 'give'>;
  log: Pick<Logger, 'warn'>;
}

interface Piece {
  bytes: Buffer;
  number: number;
}

/**
 * Writes an answer to Redis while it is made. What waits to be written is bounded; beyond, and when Redis does not take it in time, the
 * answer is not kept and goes on for its client.
 */
export class AnswerJournal {
  readonly #of: KeyedAttempt;
  readonly #parts: JournalParts;
  /** What waits to be written. */
  #pieces: Piece[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  /** Number of the next piece. */
  #next = 0;
  /** What is known of the answer, and of the request, and is not written yet. */
  #news: Pick<AnswerEntry, 'head' | 'facts'> | undefined;
  #end: { kind: 'whole' | 'cut'; isFree: boolean; givenUpAt: number } | undefined;
  /** Whether it is not kept, and Redis has to know that or knows it. */
  #isLost: false | 'untold' | 'told' = false;
  /** Whether there may be more to write: the execution has its key, and neither its end was written nor was it given up. */
  #hasKey = true;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(of: KeyedAttempt, parts: JournalParts) {
    this.#of = of;
    this.#parts = parts;
  }

  /** Status and headers, and what is known of the request by now, if that is more. They are written at once. */
  begin(head: AnswerHead, facts: RequestFacts | undefined): void {
    this.#news = { head, facts };
    void this.#write();
  }

  /** The next part of the answer, whose memory is its own. */
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
   * Writes the end. Resolves when it is written, or given up.
   * @param kind `cut` for an answer whose connection is closed midway
   * @param isFree whether the next request with the key is executed
   */
  async finish(kind: 'whole' | 'cut', isFree: boolean): Promise<void> {
    this.#end = { kind, isFree, givenUpAt: performance.now() + endedMs };
    // What is written may be over, and not have seen the end.
    while (this.#hasKey) await this.#write();
    this.drop();
  }

  /** Forgets what waits, and writes no more. */
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
      // Beyond what was lost, the number shows the gap.
      const from = pieces[0]?.number ?? this.#next;
      const { head, facts } = this.#news ?? {};
      const entry = { from, last: pieces.at(-1)?.number ?? from, bytes, head, facts };
      this.#news = undefined;
      if (this.#isLost === 'untold') this.#isLost = 'told';
      await this.#writeOne(entry, end);
      this.#give(pieces);
    }
  }

  /** Writes the same until Redis has answered: what is written twice is kept once. */
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
      this.#parts.room.give(bytes.length);
      this.#waitingBytes -= bytes.length;
    }
  }
}

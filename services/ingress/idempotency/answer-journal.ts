import { setTimeout as pause } from 'node:timers/promises';
import type {
  AnswerEntry,
  AnswerHead,
  IdempotentAnswers,
  ExecutionRef,
  RequestFacts,
} from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import type { Logger } from '#shared/core/log.ts';
import type { StoreQueueBudget, StoreQueueShare } from '#shared/serving/stored/store-queue-budget.ts';

/** Milliseconds after the first of several pieces until they are written together. */
const gatherMs = 50;
/** Largest number of bytes of one write, unless a single piece is longer. */
const bytesAtOnce = 128 * 1024;

/** Milliseconds between a failed write and the next one. */
const retryMs = 250;
/** Milliseconds after the end of an answer until its journal gives up writing. */
const endTimeoutMs = 60_000;

export interface JournalParts {
  answers: Pick<IdempotentAnswers, 'append' | 'finish' | 'answerBytes'>;
  /** Bounds the memory of all answers that are not written yet. */
  journalBudget: Pick<StoreQueueBudget, 'openShare'>;
  log: Pick<Logger, 'warn'>;
}

interface Piece {
  bytes: Buffer;
  number: number;
}

/**
 * Writes an answer to Redis while it is produced. The memory of unwritten pieces is bounded, in sum and for each owner. If the pieces
 * exceed the bound, or Redis does not accept writes in time, the answer is not kept. The client still gets the answer.
 */
export class AnswerJournal {
  readonly #execution: ExecutionRef;
  readonly #parts: JournalParts;
  readonly #room: StoreQueueShare;
  #pieces: Piece[] = [];
  #waitingBytes = 0;
  /** Number of bytes that were added, written or not. */
  #bytes = 0;
  /** Number of the next piece. */
  #nextNumber = 0;
  /** Status, headers and facts of the request that are not written yet. */
  #unwrittenHead: Pick<AnswerEntry, 'head' | 'facts'> | undefined;
  #end: { kind: 'whole' | 'cut'; isKeyFree: boolean; givenUpAt: number } | undefined;
  /** Set if the answer is not kept: `unreported` until Redis has stored that fact, then `reported`. */
  #loss: false | 'unreported' | 'reported' = false;
  /** Whether anything may be written. False once another execution has the key, or the end of the answer is written or given up. */
  #mayWrite = true;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(execution: ExecutionRef, parts: JournalParts) {
    this.#execution = execution;
    this.#parts = parts;
    this.#room = parts.journalBudget.openShare(execution.owner);
  }

  /** Writes the status and the headers at once, and the facts of the request that are known so far. */
  writeHead(head: AnswerHead, facts: RequestFacts | undefined): void {
    this.#unwrittenHead = { head, facts };
    void this.#write();
  }

  /** Adds the next piece of the answer. The caller must not reuse the memory of `bytes`, because the journal keeps it. */
  add(bytes: Buffer, number: number): void {
    this.#nextNumber = number + 1;
    if (this.#loss !== false || !this.#mayWrite) return;
    this.#bytes += bytes.length;
    if (this.#bytes > this.#parts.answers.answerBytes || !this.#room.take(bytes.length)) {
      this.#dropPieces('unreported');
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
   * @param isKeyFree whether the next request with the key is to be executed
   */
  async finish(kind: 'whole' | 'cut', isKeyFree: boolean): Promise<void> {
    this.#end = { kind, isKeyFree, givenUpAt: performance.now() + endTimeoutMs };
    // A write that is already running may finish without writing the end.
    while (this.#mayWrite) await this.#write();
    this.stop();
  }

  /** Discards the unwritten pieces and stops writing. */
  stop(): void {
    this.#mayWrite = false;
    clearTimeout(this.#timer);
    this.#dropPieces('reported');
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
    while (this.#mayWrite) {
      const end = this.#waitingBytes <= bytesAtOnce ? this.#end : undefined;
      if (!end && this.#pieces.length === 0 && !this.#unwrittenHead && this.#loss !== 'unreported') return;
      const pieces = this.#pieces.splice(0, this.#countPiecesWithin(bytesAtOnce));
      const bytes = pieces.length === 0 ? undefined : Buffer.concat(pieces.map((piece) => piece.bytes));
      // If pieces were lost, this number shows the gap.
      const from = pieces[0]?.number ?? this.#nextNumber;
      const { head, facts } = this.#unwrittenHead ?? {};
      const entry = { from, last: pieces.at(-1)?.number ?? from, bytes, head, facts };
      this.#unwrittenHead = undefined;
      if (this.#loss === 'unreported') this.#loss = 'reported';
      await this.#writeOne(entry, end);
      this.#releasePieces(pieces);
    }
  }

  /** Repeats one write until Redis confirms it. Redis stores a repeated write only once. */
  async #writeOne(entry: AnswerEntry, end: { kind: 'whole' | 'cut'; isKeyFree: boolean } | undefined): Promise<void> {
    const { answers, log } = this.#parts;
    while (this.#mayWrite) {
      try {
        if (end) {
          await answers.finish(this.#execution, entry, end.kind, end.isKeyFree);
          this.#mayWrite = false;
          return;
        }
        const outcome = await answers.append(this.#execution, entry);
        if (outcome === 'superseded') this.#mayWrite = false;
        if (outcome !== 'kept') this.#dropPieces('reported');
        return;
      } catch (err) {
        if (this.#end && performance.now() > this.#end.givenUpAt) {
          log.warn({ err }, 'the answer to an idempotency key is not kept: the store does not answer');
          this.#mayWrite = false;
          return;
        }
        await pause(retryMs);
      }
    }
  }

  #countPiecesWithin(maxBytes: number): number {
    let bytes = 0;
    const beyond = this.#pieces.findIndex((piece, at) => (bytes += piece.bytes.length) > maxBytes && at > 0);
    return beyond === -1 ? this.#pieces.length : beyond;
  }

  #dropPieces(loss: 'unreported' | 'reported'): void {
    this.#loss = loss;
    this.#releasePieces(this.#pieces.splice(0));
  }

  #releasePieces(pieces: readonly Piece[]): void {
    for (const { bytes } of pieces) {
      this.#room.release(bytes.length);
      this.#waitingBytes -= bytes.length;
    }
  }
}

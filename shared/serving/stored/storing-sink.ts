import { findStoreOwner } from '#shared/accounts/keys/key-record.ts';
import type { ServedJob } from '#shared/broker/dispatch/job-sink.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { StorableAnswer, StoredAnswers } from '#shared/formats/stored-answers.ts';
import type { Caller } from '../caller.ts';
import type { MemoryBound, ModelSink } from '../serve-model.ts';
import type { AnswerToStore } from './resolve-stored.ts';
import type { AnswerStorer } from './answer-storer.ts';
import type { StoreQueueShare } from './store-queue-budget.ts';

/** Maximum bytes of an answer that is held back while it is stored. */
const maxBytes = 8 * 1024 * 1024;

const lineBreak = 0x0a;
const emptyBytes = Buffer.alloc(0);

export interface StoringOptions {
  format: StoredAnswers;
  stream: boolean;
  /** Whether the caller has left. The answer is then not stored. */
  isGone: () => boolean;
  /** Takes room for the answer and stores it. Never rejects, and waits for a bounded time. */
  store: (answer: StorableAnswer) => Promise<void>;
  /** Limits the bytes that all answers, and those of one owner, together hold back. */
  room: StoreQueueShare;
  onTooLarge: () => void;
  /** Called if the answer is not stored because all answers together hold back too many bytes. */
  onNoRoom: () => void;
}

export interface StoringSinkParts {
  format: StoredAnswers;
  stream: boolean;
  toStore: AnswerToStore;
  storer: Pick<AnswerStorer, 'store' | 'queueBudget' | 'countTooLarge' | 'countNoRoom'>;
}

/**
 * Passes an answer on, and stores it when it is complete. The last event of a stream, or a whole answer, waits until the answer is stored.
 * A client that has received the whole answer therefore finds it in the store. Only the last event is parsed.
 */
export class StoringSink implements ModelSink {
  readonly #sink: ModelSink;
  readonly #options: StoringOptions;
  /** The beginning of the line that was passed on without its end. The last event may begin in this line. */
  #line = emptyBytes;
  /** The part of the last event that was already passed on. */
  #passedStart = emptyBytes;
  #heldPieces: Buffer[] | undefined;
  #heldBytes = 0;
  /** Whether the answer is not stored, so that its last event is passed on at once. */
  #isGivenUp = false;

  constructor(sink: ModelSink, options: StoringOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  get relayedTokens(): number {
    return this.#sink.relayedTokens;
  }

  begin(job: ServedJob): void {
    this.#sink.begin(job);
  }

  keepBody(): void {
    this.#sink.keepBody?.();
  }

  hold(bytes: number, bound: MemoryBound): void {
    this.#sink.hold?.(bytes, bound);
  }

  moved(job: ServedJob): void {
    this.#sink.moved?.(job);
  }

  keepAlive(): void {
    this.#sink.keepAlive();
  }

  data(bytes: Uint8Array): void {
    if (this.#heldPieces) this.#hold(bytes);
    else this.#pass(bytes);
  }

  end(bytes: Uint8Array): void {
    void this.#end(bytes);
  }

  fail(error: RouterError): void {
    this.#release();
    this.#heldPieces = undefined;
    this.#sink.fail(error);
  }

  async #end(bytes: Uint8Array): Promise<void> {
    const last = Buffer.from(bytes);
    const answer = this.#options.stream ? this.#readLastEvent(last) : this.#options.format.readWhole(last);
    // From here on, the bytes belong to the answer, for which `store` takes room.
    this.#release();
    if (answer && !this.#options.isGone()) await this.#options.store(answer);
    try {
      for (const piece of this.#heldPieces ?? []) this.#sink.data(piece);
      this.#sink.end(last);
    } catch (thrown) {
      this.#sink.fail(new RouterError('internal', 'The answer could not be sent.', { cause: thrown }));
    }
  }

  /** Parses the event that ends the stream. This event may be in the last bytes. */
  #readLastEvent(last: Buffer): StorableAnswer | undefined {
    const { findLastEvent, readLastEvent } = this.#options.format;
    if (this.#isGivenUp) return undefined;
    if (this.#heldPieces) {
      const event = Buffer.concat([this.#passedStart, ...this.#heldPieces, last]);
      // The held pieces share their memory with the event.
      this.#heldPieces = [event.subarray(this.#passedStart.length, event.length - last.length)];
      return readLastEvent(event);
    }
    const lineAndBytes = Buffer.concat([this.#line, last]);
    const at = findLastEvent(lineAndBytes);
    return at === -1 ? undefined : readLastEvent(lineAndBytes.subarray(at));
  }

  #pass(bytes: Uint8Array): void {
    const { findLastEvent, lastEventMarkBytes } = this.#options.format;
    const line = this.#line;
    // Only very long events are split between pieces.
    const lineAndBytes = line.length === 0 ? bytes : Buffer.concat([line, bytes]);
    const at = findLastEvent(lineAndBytes);
    if (at === -1) {
      this.#sink.data(bytes);
      this.#line =
        bytes.at(-1) === lineBreak
          ? emptyBytes
          : Buffer.from(takeLastLine(lineAndBytes).subarray(0, lastEventMarkBytes));
      return;
    }
    const passedBytes = Math.max(0, at - line.length);
    if (passedBytes > 0) this.#sink.data(bytes.subarray(0, passedBytes));
    this.#passedStart = at < line.length ? line : emptyBytes;
    this.#heldPieces = [];
    this.#hold(bytes.subarray(passedBytes));
  }

  #hold(bytes: Uint8Array): void {
    const { room, onTooLarge, onNoRoom } = this.#options;
    if (this.#isGivenUp) return this.#sink.data(bytes);
    const isTooLarge = this.#heldBytes + bytes.length > maxBytes;
    if (!isTooLarge && room.take(bytes.length)) {
      this.#heldBytes += bytes.length;
      // The bytes are copied, because the caller may use their memory again.
      this.#heldPieces?.push(Buffer.from(bytes));
      return;
    }
    if (isTooLarge) onTooLarge();
    else onNoRoom();
    this.#isGivenUp = true;
    this.#release();
    for (const piece of this.#heldPieces ?? []) this.#sink.data(piece);
    this.#heldPieces = [];
    this.#passedStart = emptyBytes;
    this.#sink.data(bytes);
  }

  #release(): void {
    this.#options.room.release(this.#heldBytes);
    this.#heldBytes = 0;
  }
}

function takeLastLine(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(bytes.lastIndexOf(lineBreak) + 1);
}

/** Creates a sink that stores an answer through the process's `AnswerStorer`. */
export function createStoringSink(
  sink: ModelSink,
  caller: Pick<Caller, 'requestId' | 'identity' | 'isGone'>,
  { format, stream, toStore, storer }: StoringSinkParts,
): ModelSink {
  const { requestId } = caller;
  const owner = findStoreOwner(caller.identity);
  return new StoringSink(sink, {
    format,
    stream,
    isGone: () => caller.isGone(),
    store: (storable) => storer.store({ requestId, owner, format, ...storable, toStore }),
    room: storer.queueBudget.openShare(owner),
    onTooLarge: () => storer.countTooLarge(requestId),
    onNoRoom: () => storer.countNoRoom(requestId),
  });
}

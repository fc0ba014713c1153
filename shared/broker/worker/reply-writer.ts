import type { MsgHdrs } from '@nats-io/transport-node';
import { type RouterError, CannotContinue } from '#shared/core/errors.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { encodeAnswerHeaders } from '../contract/answer-headers.ts';
import { encodeEnd, encodeError } from '../contract/frame.ts';
import type { JobEnd, Reply } from '../contract/job-contract.ts';
import { formatUnnumberedSubject, type FrameKind } from '../contract/subjects.ts';
import type { FrameMemory } from './frame-memory.ts';
import type { WorkerOptions } from './worker-options.ts';
import type { WorkerState } from './worker-state.ts';
import type { DispatcherContact } from './dispatcher-contact.ts';
import { ReplyTail } from './reply-tail.ts';

/** Maximum bytes of a data frame, below NATS' payload limit. */
const maxFrameBytes = 512 * 1024;

/** Waiting pieces of a stream are sent before the end of the coalescing window when they reach this many bytes together. */
const maxHeldBytes = 64 * 1024;

const emptyBytes = new Uint8Array(0);

/** The worker that sends an answer. */
type ReplyingWorker = Pick<WorkerState, 'broker' | 'memory'> & { options: Pick<WorkerOptions, 'coalesceMs'> };

/**
 * Sends the pieces of one answer as numbered frames.
 *
 * The first piece of a stream leaves at once, ahead of waiting frames of other answers. Later pieces that follow each other within the
 * coalescing window are sent in one frame. In bursts, this saves work of the broker and the dispatcher, and no piece is delayed by more
 * than the window. Later frames also wait a few milliseconds for frames of other answers, because waking the broker and the dispatcher for
 * each frame costs more than relaying it.
 *
 * The pieces of an answer that is not streamed are sent at its end. If they fit into the end frame, they are sent in it.
 */
export class ReplyWriter implements Reply {
  readonly #broker: Broker;
  readonly #subject: string;
  readonly #dataSubject: string;
  readonly #stream: boolean;
  readonly #coalesceMs: number;
  readonly #aliveInbox: string;
  readonly #tail: ReplyTail;
  readonly #memory: FrameMemory;
  readonly #contact: DispatcherContact;
  #seq = 0;
  #heldPieces: Uint8Array[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #windowEndsAt = 0;
  #headerFields: Readonly<Record<string, string>> = {};
  #headers: MsgHdrs | undefined;
  #lastSentAt = performance.now();
  #lastKeepAliveAt = performance.now();
  #isClosed = false;

  /**
   * @param subject the reply subject of the grant, before kind and number
   * @param aliveInbox the subject at which the dispatcher answers keep-alives when no client waits for this answer any more
   * @param stream whether the client gets the pieces as they arrive
   */
  constructor(
    { broker, memory, options }: ReplyingWorker,
    subject: string,
    aliveInbox: string,
    stream: boolean,
    contact: DispatcherContact,
  ) {
    this.#broker = broker;
    this.#subject = subject;
    this.#dataSubject = formatUnnumberedSubject(subject, 'd');
    this.#aliveInbox = aliveInbox;
    this.#stream = stream;
    this.#coalesceMs = options.coalesceMs;
    this.#tail = new ReplyTail(memory);
    this.#memory = memory;
    this.#contact = contact;
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headerFields = { ...this.#headerFields, ...headers };
    this.#headers = encodeAnswerHeaders(this.#headerFields);
  }

  write(piece: string | Uint8Array): void {
    if (this.#isClosed || piece.length === 0) return;
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#heldPieces.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes >= (this.#stream ? maxHeldBytes : maxFrameBytes)) return this.#flush();
    if (!this.#stream || this.#timer !== undefined) return;
    const waitMs = this.#windowEndsAt - performance.now();
    if (waitMs <= 0) this.#flush();
    else this.#timer = setTimeout(() => this.#flush(), waitMs);
  }

  /** See `Reply`. There is always room while the dispatcher is in reach, because frames are then confirmed within about a second. */
  waitForRoom(): Promise<void> | undefined {
    return this.#isDoubtful(performance.now()) ? this.#memory.waitForRoom() : undefined;
  }

  /** Whether a frame other than a keep-alive was sent. */
  get hasSent(): boolean {
    return this.#seq > 0;
  }

  get keptBytes(): number {
    return this.#tail.bytes;
  }

  /**
   * Drops the frames that have certainly arrived.
   * @returns whether all frames have arrived
   */
  dropConfirmed(now: number): boolean {
    const confirmedTime = this.#contact.findConfirmedTime(now);
    this.#tail.dropBefore(confirmedTime);
    return !this.#tail.hasFrameSince(confirmedTime);
  }

  dropAll(): void {
    this.#tail.dropAll();
  }

  /** Returns the milliseconds since the last frame of any kind, and since the last keep-alive. */
  computeSilence(now: number): { sinceFrameMs: number; sinceKeepAliveMs: number } {
    return { sinceFrameMs: now - this.#lastSentAt, sinceKeepAliveMs: now - this.#lastKeepAliveAt };
  }

  /** Sends a keep-alive with the number of the next frame. The dispatcher answers only if it does not wait for the job any more. */
  sendKeepAlive(): void {
    this.#lastKeepAliveAt = performance.now();
    this.#contact.recordSent();
    this.#publish('k', this.#seq, emptyBytes, this.#aliveInbox);
  }

  /**
   * Sends the frames from the number `from` on again. If there are none, sends a keep-alive.
   * @returns false if one of the frames is not kept any more
   */
  retransmit(from: number): boolean {
    const frames = this.#tail.readFrom(from);
    if (!frames) return false;
    for (const [position, { kind, payload }] of frames.entries()) this.#publish(kind, from + position, payload);
    if (frames.length === 0) this.sendKeepAlive();
    return true;
  }

  /** Sends the waiting pieces and the end of the answer. */
  end(end: JobEnd): void {
    const last = this.#takeHeldPieces();
    if (last.length > maxFrameBytes) this.#sendData(last);
    this.#send('e', encodeEnd(end, last.length > maxFrameBytes ? emptyBytes : last));
    this.close();
  }

  /** Sends the waiting pieces of a stream, and the error that ended the answer. */
  fail(error: RouterError): void {
    if (this.#stream) this.#flush();
    const facts = error instanceof CannotContinue ? { cannotContinue: error.failure } : {};
    this.#send('x', Buffer.from(encodeError(error, facts)));
    this.close();
  }

  /** Drops the waiting pieces, and ignores further ones. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#heldPieces = [];
  }

  #flush(): void {
    const bytes = this.#takeHeldPieces();
    if (bytes.length > 0) this.#sendData(bytes);
    this.#windowEndsAt = this.#lastSentAt + this.#coalesceMs;
  }

  #takeHeldPieces(): Uint8Array {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [first] = this.#heldPieces;
    const bytes = this.#heldPieces.length === 1 && first ? first : Buffer.concat(this.#heldPieces);
    this.#heldPieces = [];
    this.#heldBytes = 0;
    return bytes;
  }

  #sendData(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; start += maxFrameBytes) {
      this.#send('d', bytes.subarray(start, start + maxFrameBytes));
    }
  }

  #send(kind: FrameKind, payload: Uint8Array): void {
    const now = performance.now();
    this.#contact.recordSent();
    this.#tail.add(kind, payload, now, this.#contact.findConfirmedTime(now), this.#isDoubtful(now));
    this.#publish(kind, this.#seq, payload);
    this.#seq += 1;
  }

  #isDoubtful(now: number): boolean {
    return !this.#broker.connected || this.#contact.isDoubtful(now);
  }

  #publish(kind: FrameKind, seq: number, payload: Uint8Array, answerTo?: string): void {
    this.#lastSentAt = performance.now();
    const headers = seq === 0 && kind !== 'k' ? this.#headers : undefined;
    if (kind === 'd') return this.#publishData(seq, payload, headers);
    this.#broker.publish(`${this.#subject}.${kind}.${seq}`, payload, answerTo, headers);
  }

  #publishData(seq: number, payload: Uint8Array, headers: MsgHdrs | undefined): void {
    const number = String(seq);
    if (seq === 0 && this.#stream) this.#broker.publishImmediately(this.#dataSubject, payload, number, headers);
    else if (this.#coalesceMs > 0) this.#broker.publishUnhurried(this.#dataSubject, payload, number, headers);
    else this.#broker.publish(this.#dataSubject, payload, number, headers);
  }
}

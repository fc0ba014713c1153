import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';
import type { ExecutionRef } from '#shared/store/answer-journal/answer-journal.ts';
import { JournalWriter } from '#shared/store/answer-journal/journal-writer.ts';
import type { AnswerHead, RequestFacts } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import { recordThroughOutage } from '#shared/store/redis/record-through-outage.ts';
import { errorTable } from '#shared/core/errors.ts';
import { getRequestContext } from '../http/request-context.ts';
import { AttachedClient } from './attached-client.ts';
import type { AnswerReceiver, DetachedResponse } from './detached-response.ts';
import { EventNumberer, eventNumberStride } from './event-numberer.ts';
import type { IdempotencyParts } from './idempotency-parts.ts';

/** Milliseconds between two renewals of the lease of a key. */
const renewMs = 1_500;
/** Milliseconds between two checks for waiting clients after the first client has left. */
const checkIntervalMs = 400;

/** Milliseconds after which the client of a refused request gets its answer even if the key is not free yet. */
const maxHoldMs = 1_000;

/** Milliseconds after the end of an answer until it is no longer written. */
const maxEndingMs = 60_000;

/** Bytes per piece of an answer that is not a stream of events. */
const pieceBytes = 64 * 1024;

/** Matches headers that are not kept, because they belong to one connection or request, or are true only for a moment. */
const unkeptHeaders = /^(?:connection|keep-alive|date|x-request-id|request-id|vary|access-control-.*|.*ratelimit.*)$/;

/** A request that has claimed its key and is not executed yet. */
export interface ClaimedRequest {
  execution: ExecutionRef;
  /** Number of earlier executions of the key. */
  number: number;
  /** Returns the facts of the request that are known. Called when its answer begins. */
  collectFacts: () => RequestFacts;
  /** Whether the execution continues without its client, because it cannot be cancelled or must not be done twice. */
  isUncancelled: boolean;
}

/**
 * The execution of a request with an idempotency key. The answer is written to Redis as it is produced, and does not depend on the
 * connection of the client. The execution is cancelled when no client waits for the answer any more.
 */
export class KeyedExecution implements AnswerReceiver {
  readonly #response: Response;
  readonly #parts: IdempotencyParts;
  readonly #release: () => void;
  readonly #renewal: NodeJS.Timeout;
  readonly #detached: DetachedResponse;
  readonly #claimed: ClaimedRequest;
  readonly #journal: JournalWriter;
  #client: AttachedClient | undefined;
  #numberer: EventNumberer | undefined;
  /** Output that the client gets once the key is free; undefined if the client gets output at once. */
  #heldWrites: ((client: AttachedClient) => void)[] | undefined;
  #isUncancelled: boolean;
  #isRefused = false;
  /** Whether the execution ended because no client waited, so that its key is free again. */
  #isAbandoned = false;

  constructor(response: Response, detached: DetachedResponse, claimed: ClaimedRequest, parts: IdempotencyParts) {
    this.#response = response;
    this.#detached = detached;
    this.#claimed = claimed;
    this.#parts = parts;
    this.#isUncancelled = claimed.isUncancelled;
    const { execution } = claimed;
    const { answers, journalBudget } = parts;
    this.#journal = new JournalWriter({
      next: 0,
      append: (entry) => answers.append(execution, entry),
      maxBytes: answers.answerBytes,
      share: journalBudget.openShare(execution.owner),
    });
    this.#client = new AttachedClient(response, parts.unreadOutputs);
    this.#release = parts.openRequests.trackDetached(detached);
    this.#renewal = setInterval(() => void this.#renew(), renewMs);
    parts.count('executed');
  }

  /** Marks the answer that follows as a refusal. To be called if the handler has thrown an error. */
  markRefused(): void {
    this.#isRefused = true;
  }

  /** Makes the execution continue without its client from now on. */
  runUncancelled(): void {
    this.#isUncancelled = true;
  }

  /** Detaches the client. To be called when its connection closes. */
  detachClient(): void {
    this.#client = undefined;
    if (!this.#detached.isOver && !this.#isUncancelled) void this.#cancelIfAlone();
  }

  begin(status: number, sentHeaders: OutgoingHttpHeaders): void {
    const isEvents = (sentHeaders['content-type'] ?? '').startsWith('text/event-stream');
    const { number, collectFacts } = this.#claimed;
    if (isEvents) this.#numberer = new EventNumberer(number * eventNumberStride, (bytes) => this.#journal.add(bytes));
    const keptHeaders = Object.entries(sentHeaders).filter(
      ([name, value]) => value !== undefined && !unkeptHeaders.test(name),
    );
    const headers = Object.fromEntries(keptHeaders.map(([name, value]) => [name, String(value)]));
    const { requestId } = getRequestContext(this.#response);
    const head: AnswerHead = { status, headers, requestId, isEvents };
    this.#journal.writeFields({ head, facts: collectFacts() });
    // A client that may try again must find the key free, so it gets its answer only once the key is free.
    if (this.#freesKey('whole')) this.#heldWrites = [];
    this.#writeToClient((client) => client.begin(status, sentHeaders));
  }

  data(bytes: Uint8Array): void {
    if (this.#numberer) {
      const numbered = this.#numberer.add(bytes);
      this.#writeToClient((client) => client.data(numbered));
      return;
    }
    const sent = this.#heldWrites ? Buffer.from(bytes) : bytes;
    this.#writeToClient((client) => client.data(sent));
    for (let at = 0; at < bytes.length; at += pieceBytes)
      this.#journal.add(Buffer.from(bytes.subarray(at, at + pieceBytes)));
  }

  end(): void {
    this.#numberer?.end();
    this.#writeToClient((client) => client.end());
    void this.#finish('whole');
  }

  cut(): void {
    this.#writeToClient((client) => client.abort());
    void this.#finish('cut');
  }

  #writeToClient(write: (client: AttachedClient) => void): void {
    if (this.#heldWrites) this.#heldWrites.push(write);
    else if (this.#client) write(this.#client);
  }

  #sendHeld(): void {
    const held = this.#heldWrites ?? [];
    this.#heldWrites = undefined;
    for (const write of held) this.#writeToClient(write);
  }

  async #finish(kind: 'whole' | 'cut'): Promise<void> {
    try {
      if (this.#isAbandoned) return;
      const finished = this.#writeEnd(kind, this.#freesKey(kind));
      if (this.#heldWrites) await Promise.race([finished, pause(maxHoldMs)]);
      this.#sendHeld();
      await finished;
    } finally {
      this.#journal.stop();
      clearInterval(this.#renewal);
      this.#release();
    }
  }

  /** Writes the end of the answer. Resolves when it is written, or writing is given up. */
  async #writeEnd(kind: 'whole' | 'cut', isKeyFree: boolean): Promise<void> {
    const { answers, log } = this.#parts;
    const { execution } = this.#claimed;
    const giveUp = AbortSignal.timeout(maxEndingMs);
    const rest = await this.#journal.close(giveUp);
    if (!rest) return;
    await recordThroughOutage(() => answers.finish(execution, rest, kind, isKeyFree), giveUp).catch((err: unknown) =>
      log.warn({ err }, 'the answer to an idempotency key is not kept: the store does not answer'),
    );
  }

  /** Returns whether the next request with the key is to be executed, because this answer is a refusal or a failure that may be retried. */
  #freesKey(kind: 'whole' | 'cut'): boolean {
    if (this.#isRefused) return true;
    const { failure, headersSent } = this.#detached;
    if (failure) return !failure.hasBegun && errorTable[failure.error.code].clientMayRetry && !failure.error.hadEffects;
    return kind === 'cut' && !headersSent;
  }

  async #renew(): Promise<void> {
    // If this fails, it is tried again after the next interval. The lease lasts for several intervals.
    await this.#parts.answers.renew(this.#claimed.execution).catch(() => undefined);
  }

  /** Cancels the request once its client has left and no other client has waited for the answer for `graceMs`. */
  async #cancelIfAlone(): Promise<void> {
    const { answers, graceMs, count } = this.#parts;
    const { execution } = this.#claimed;
    let aloneAt = performance.now();
    while (!this.#detached.isOver && !this.#isUncancelled) {
      const remainingMs = aloneAt + graceMs - performance.now();
      // If the store does not reply, nothing shows whether a client waits. A missing reply counts as no waiting client.
      const waiting = await (remainingMs > 0 ? answers.renew(execution) : answers.abandon(execution)).catch(() => 0);
      if (this.#detached.isOver) return;
      if (waiting > 0) aloneAt = performance.now();
      else if (remainingMs <= 0) {
        this.#isAbandoned = true;
        count('abandoned');
        this.#detached.destroy();
        return;
      }
      await pause(waiting > 0 ? checkIntervalMs : Math.min(checkIntervalMs, remainingMs));
    }
  }
}

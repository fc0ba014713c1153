import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';
import type { KeyedAttempt, RequestFacts } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import { errorTable } from '#shared/core/errors.ts';
import { requestIdOf } from '../http/request-id.ts';
import { AnswerJournal } from './answer-journal.ts';
import { AttachedClient } from './attached-client.ts';
import type { AnswerTaker, DetachedResponse } from './detached-response.ts';
import { EventNumberer, numbersOfOne } from './event-numberer.ts';
import type { IdempotencyParts } from './idempotency-parts.ts';

/** Milliseconds between two renewals of a lease, and two looks for somebody who waits for an answer whose client is gone. */
const renewMs = 1_500;
const lookMs = 400;

/** Milliseconds for which the client of a refused request waits at most until its key is free. */
const heldMs = 1_000;

/** Bytes of an answer that is no stream of events which are written together. */
const pieceBytes = 64 * 1024;

/** Headers that stay with the connection that they were sent on, or are true for a moment. */
const unkept = /^(?:connection|keep-alive|date|x-request-id|request-id|vary|access-control-.*|.*ratelimit.*)$/;

/** What there is to an execution before it begins. */
export interface ClaimedRequest {
  of: KeyedAttempt;
  /** How many executions of the key came before it. */
  number: number;
  /** What is known of the request, asked for when its answer begins. */
  facts: () => RequestFacts;
  /** Whether it goes on without its client, because what it does cannot be cancelled. */
  isUncancelled: boolean;
}

/**
 * The execution of a request with an idempotency key. Its answer does not end with its client's connection: it is written to Redis as it
 * is made, and ends when nobody waits for it any more.
 */
export class KeyedExecution implements AnswerTaker {
  readonly #response: Response;
  readonly #parts: IdempotencyParts;
  readonly #release: () => void;
  readonly #renewal: NodeJS.Timeout;
  readonly #detached: DetachedResponse;
  readonly #claimed: ClaimedRequest;
  readonly #journal: AnswerJournal;
  #client: AttachedClient | undefined;
  #numberer: EventNumberer | undefined;
  #pieces = 0;
  /** What the client gets when the key is free; undefined if nothing waits for that. */
  #held: ((client: AttachedClient) => void)[] | undefined;
  #isUncancelled: boolean;
  #isRefused = false;
  /** Whether nobody waited for it, so that its key is free again. */
  #isAbandoned = false;

  constructor(response: Response, detached: DetachedResponse, claimed: ClaimedRequest, parts: IdempotencyParts) {
    this.#response = response;
    this.#detached = detached;
    this.#claimed = claimed;
    this.#parts = parts;
    this.#isUncancelled = claimed.isUncancelled;
    this.#journal = new AnswerJournal(claimed.of, parts);
    this.#client = new AttachedClient(response, parts.unread);
    this.#release = parts.open.hold(detached);
    this.#renewal = setInterval(() => void this.#renew(), renewMs);
    parts.count('executed');
  }

  /** Is called when the handler has thrown: what follows is a refusal, which came of no execution. */
  refuse(): void {
    this.#isRefused = true;
  }

  /** From now on it goes on without its client. */
  runUncancelled(): void {
    this.#isUncancelled = true;
  }

  /** Is called when the connection of the client is closed. */
  leave(): void {
    this.#client = undefined;
    if (!this.#detached.isOver && !this.#isUncancelled) void this.#endAlone();
  }

  begin(status: number, given: OutgoingHttpHeaders): void {
    const isEvents = (given['content-type'] ?? '').startsWith('text/event-stream');
    const { number, facts } = this.#claimed;
    if (isEvents)
      this.#numberer = new EventNumberer(number * numbersOfOne, (bytes, at) => this.#journal.add(bytes, at));
    const kept = Object.entries(given).filter(([name, value]) => value !== undefined && !unkept.test(name));
    const headers = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
    this.#journal.begin({ status, headers, requestId: requestIdOf(this.#response), isEvents }, facts());
    // Who knows that it may try again finds the key free.
    if (this.#isFree('whole')) this.#held = [];
    this.#toClient((client) => client.begin(status, given));
  }

  data(bytes: Uint8Array): void {
    if (this.#numberer) {
      const numbered = this.#numberer.take(bytes);
      this.#toClient((client) => client.data(numbered));
      return;
    }
    const sent = this.#held ? Buffer.from(bytes) : bytes;
    this.#toClient((client) => client.data(sent));
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      this.#journal.add(Buffer.from(bytes.subarray(at, at + pieceBytes)), this.#pieces);
      this.#pieces += 1;
    }
  }

  end(): void {
    this.#numberer?.end();
    this.#toClient((client) => client.end());
    void this.#finish('whole');
  }

  cut(): void {
    this.#toClient((client) => client.cut());
    void this.#finish('cut');
  }

  #toClient(write: (client: AttachedClient) => void): void {
    if (this.#held) this.#held.push(write);
    else if (this.#client) write(this.#client);
  }

  #sendHeld(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const write of held) this.#toClient(write);
  }

  async #finish(kind: 'whole' | 'cut'): Promise<void> {
    try {
      if (this.#isAbandoned) this.#journal.drop();
      else {
        const finished = this.#journal.finish(kind, this.#isFree(kind));
        if (this.#held) await Promise.race([finished, pause(heldMs)]);
        this.#sendHeld();
        await finished;
      }
    } finally {
      clearInterval(this.#renewal);
      this.#release();
    }
  }

  /** Whether the next request with the key is executed: this answer did not come of an execution, or of one that may be tried again. */
  #isFree(kind: 'whole' | 'cut'): boolean {
    if (this.#isRefused) return true;
    const { failure, headersSent } = this.#detached;
    if (failure) return !failure.hasBegun && errorTable[failure.error.code].clientMayRetry && !failure.error.hadEffects;
    return kind === 'cut' && !headersSent;
  }

  async #renew(): Promise<void> {
    // Without an answer, the next time is the next attempt: the lease is longer.
    await this.#parts.answers.renew(this.#claimed.of).catch(() => undefined);
  }

  /** Waits without a client for somebody to come, and cancels the request when nobody does. */
  async #endAlone(): Promise<void> {
    const { answers, graceMs, count } = this.#parts;
    const { of } = this.#claimed;
    let aloneAt = performance.now();
    while (!this.#detached.isOver && !this.#isUncancelled) {
      const left = aloneAt + graceMs - performance.now();
      // Who does not know whether somebody waits does not go on for long.
      const waiting = await (left > 0 ? answers.renew(of) : answers.abandon(of)).catch(() => 0);
      if (this.#detached.isOver) return;
      if (waiting > 0) aloneAt = performance.now();
      else if (left <= 0) {
        this.#isAbandoned = true;
        count('abandoned');
        this.#detached.destroy();
        return;
      }
      await pause(waiting > 0 ? lookMs : Math.min(lookMs, left));
    }
  }
}

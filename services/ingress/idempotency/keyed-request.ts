import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import type { ExecutionRef } from '#shared/store/answer-journal/answer-journal.ts';
import type { JournalEntry } from '#shared/store/answer-journal/journal-writer.ts';
import { createExecutionId, type RequestFacts } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import { findStoreOwner, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import { countRequest } from '#shared/serving/count-request.ts';
import { readArrivingBody } from '../files/read-arriving-body.ts';
import { getRequestContext, type IdempotentRequest } from '../http/request-context.ts';
import { createBodyDigest, computeDigest } from './body-digest.ts';
import { DetachedResponse, type AnswerReceiver } from './detached-response.ts';
import { followAnswer, answerNotKeptError } from './follow-answer.ts';
import type { IdempotencyParts } from './idempotency-parts.ts';
import { KeyedExecution } from './keyed-execution.ts';
import { readIdempotencyKey, type IdempotencyHeaders } from './read-idempotency-key.ts';

/** A handler that answers a request. It uses only the members of a response that `DetachedResponse` implements. */
export type AnsweringHandler = (request: Request, response: Response) => Promise<void>;

export interface KeyedRoute {
  answerError: ErrorRequestHandler;
  format: AnswerFormat;
  /**
   * How the body is read, which decides when the key is claimed. `whole`: the handler claims it after it has read the body. `arrives`: the
   * handler reads the body while it works, so the digest is known only afterwards. `unread`: the request has no body.
   */
  body: 'whole' | 'arrives' | 'unread';
  /** Whether an execution continues without its client, because it cannot be cancelled or must not be done twice. */
  isUncancelled: boolean;
}

/** Thrown to end the handler of a request that got an earlier answer or has lost its client. */
const answered = Symbol('answered');

/** The entry of an answer that never began. */
const emptyEntry: JournalEntry = { from: 0, last: 0, bytes: undefined, fields: {} };

/**
 * Number of repetitions of an answer that do not count towards the limits of the key. They let a client with a broken connection get its
 * answer even if a limit is used up. The number is small, because each repetition reads the whole answer from Redis.
 */
const freeRepetitions = 10;

/** Milliseconds after which a request gives up claiming its key because executions of other requests keep ending without an answer. */
const maxRetryMs = 600_000;

/** One request with an idempotency key. It is executed, or gets the answer to an earlier request. */
export class KeyedRequest implements AnswerReceiver, IdempotentRequest {
  readonly #request: Request;
  readonly #response: Response;
  readonly #route: KeyedRoute;
  readonly #parts: IdempotencyParts;
  readonly #headers: IdempotencyHeaders;
  readonly #detached: DetachedResponse;
  readonly #facts: RequestFacts;
  #execution: KeyedExecution | undefined;

  /** @throws RouterError as `readIdempotencyKey` does */
  constructor(request: Request, response: Response, route: KeyedRoute, parts: IdempotencyParts) {
    this.#request = request;
    this.#response = response;
    this.#route = route;
    this.#parts = parts;
    this.#headers = readIdempotencyKey(request);
    this.#facts = { endpoint: `${request.method} ${request.originalUrl.replace(/\?.*$/s, '')}` };
    this.#detached = new DetachedResponse(request, this);
    getRequestContext(response).detach(this.#detached, this);
  }

  /**
   * Answers the request.
   * @throws the errors of the handler, unless the request is being executed
   */
  async serve(handle: AnsweringHandler, next: NextFunction): Promise<void> {
    const detached = this.#detached;
    // The client may have disconnected while its account was looked up. In that case, no `close` event would end the work.
    if (this.#response.destroyed) return;
    this.#response.on('close', () => {
      if (this.#execution) this.#execution.detachClient();
      else detached.destroy();
    });
    try {
      if (this.#route.body === 'arrives') await this.#claimArriving();
      else if (this.#route.body === 'unread') await this.#claimWithBody(Buffer.alloc(0));
      await handle(this.#request, detached.asExpress);
    } catch (error) {
      if (error === answered) return;
      if (!this.#execution) throw error;
      this.#execution.markRefused();
      if (detached.headersSent) {
        // An answer that has begun can only be cut off.
        if (!detached.isOver) this.#parts.log.error({ err: error }, 'the answer to an idempotency key failed');
        detached.destroy();
      } else this.#route.answerError(error, this.#request, detached.asExpress, next);
    } finally {
      // Releases the memory that is reserved for a request that was not executed.
      if (!this.#execution) detached.destroy();
    }
  }

  claim(body: Uint8Array): Promise<void> | undefined {
    return this.#route.body === 'whole' ? this.#claimWithBody(body) : undefined;
  }

  runUncancelled(): void {
    this.#execution?.runUncancelled();
  }

  begin(...head: Parameters<AnswerReceiver['begin']>): void {
    this.#execution?.begin(...head);
  }

  data(bytes: Uint8Array): void {
    this.#execution?.data(bytes);
  }

  end(): void {
    this.#execution?.end();
  }

  cut(): void {
    this.#execution?.cut();
  }

  async #claimWithBody(body: Uint8Array): Promise<void> {
    this.#facts.digest = computeDigest(body);
    const startedAt = performance.now();
    for (;;) {
      const claim = await this.#claim();
      if (!claim) return;
      if ((await this.#follow(claim.execution, claim.isOver)) === 'answered') throw answered;
      // The earlier execution was given up, or its process died. This request may be the next to be executed.
      if (this.#headers.after !== undefined) throw answerNotKeptError();
      if (performance.now() - startedAt > maxRetryMs) throw endedWithoutAnswerError();
      if (this.#response.destroyed) throw answered;
    }
  }

  /** Claims the key before the body is read. */
  async #claimArriving(): Promise<void> {
    const digest = createBodyDigest(this.#request);
    const claim = await this.#claim(() => digest.digest());
    if (!claim) return;
    for await (const _ of readArrivingBody(this.#request, this.#parts.bodyTimeoutMs));
    this.#facts.digest = digest.digest();
    if ((await this.#follow(claim.execution, claim.isOver)) === 'answered') throw answered;
    // The body is read and discarded, so this request cannot be executed.
    throw this.#headers.after === undefined ? endedWithoutAnswerError() : answerNotKeptError();
  }

  /**
   * Claims the key.
   * @param digest returns the digest of a body that is still arriving; called once the body is complete
   * @returns the execution of another request that has the key; undefined if this request is to be executed
   */
  async #claim(digest?: () => string): Promise<{ execution: ExecutionRef; isOver: boolean } | undefined> {
    const { answers, outages, store } = this.#parts;
    const owner = findStoreOwner(this.#identity);
    const { key, after } = this.#headers;
    const attempt = createExecutionId();
    const claim = await outages.retry(async () => {
      store.assertIntact();
      return answers.claim(owner, key, this.#facts, after !== undefined, attempt);
    });
    switch (claim.outcome) {
      case 'unknown':
        throw answerNotKeptError();
      case 'taken':
        this.#assertSameRequest(claim.facts);
        if (claim.repetitions > freeRepetitions) await countRequest(this.#parts, this.#identity);
        return claim;
      case 'claimed': {
        // If the client has left meanwhile, the key is released, because nothing was begun. If that fails, the lease ends by itself.
        if (this.#detached.isOver) {
          await answers.finish(claim.execution, emptyEntry, 'cut', true).catch(() => undefined);
          throw answered;
        }
        const { isUncancelled } = this.#route;
        const collectFacts = (): RequestFacts => (digest ? { ...this.#facts, digest: digest() } : this.#facts);
        this.#execution = new KeyedExecution(
          this.#response,
          this.#detached,
          { ...claim, isUncancelled, collectFacts },
          this.#parts,
        );
        return undefined;
      }
    }
  }

  get #identity(): KeyIdentity {
    return getRequestContext(this.#response).identity;
  }

  async #follow(execution: ExecutionRef, isOver: boolean): Promise<'answered' | 'none'> {
    const { after } = this.#headers;
    const leave = this.#parts.places.occupy(execution.owner, execution.attempt);
    this.#parts.count(after !== undefined ? 'resumed' : isOver ? 'replayed' : 'joined');
    const assertSameRequest = (facts: RequestFacts): void => this.#assertSameRequest(facts);
    const { format } = this.#route;
    try {
      const followed = { execution, after, format, assertSameRequest };
      return await followAnswer(this.#response, followed, this.#parts);
    } finally {
      leave();
    }
  }

  /** @throws RouterError `idempotency_key_reused` if the key was used for a different request */
  #assertSameRequest({ endpoint, digest }: RequestFacts): void {
    if (endpoint !== this.#facts.endpoint) throw keyReusedError('another endpoint');
    // The digest of an arriving body is compared once the body is complete.
    if (digest !== undefined && this.#facts.digest !== undefined && digest !== this.#facts.digest)
      throw keyReusedError('another body');
  }
}

function keyReusedError(difference: string): RouterError {
  const message = `The Idempotency-Key was used before, for a request with ${difference}. Use a new key for each request.`;
  return new RouterError('idempotency_key_reused', message, { param: 'idempotency-key' });
}

function endedWithoutAnswerError(): RouterError {
  const message =
    'The request with this Idempotency-Key that was under way has ended without an answer. Send it again.';
  return new RouterError('overloaded', message, { retryAfter: 1 });
}

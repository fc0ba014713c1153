import type { ServerResponse } from 'node:http';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { AnswerFormat, LimitStatus } from '#shared/formats/client-format.ts';
import type { Caller } from '#shared/serving/caller.ts';
import type { BodyReservation } from './body-reservation.ts';
import type { HeldBodies } from './held-bodies.ts';

/** A request with a span. */
export interface TracedRequest {
  readonly span: TraceSpan;
  /** Resolves when the attributes of the span are set; absent if they are set when the response closes. */
  attributesSet?: Promise<void>;
}

/** The part of a request with an idempotency key that its handler uses. */
export interface IdempotentRequest {
  /**
   * Claims the key after the body was read.
   * @returns undefined if the key was claimed before the handler started
   * @throws a value that ends the handler, because the request gets an earlier answer or is refused
   */
  claim(body: Uint8Array): Promise<void> | undefined;
  /** Makes the execution of the request continue without its client. */
  runUncancelled(): void;
}

const contextKey = Symbol('request context');

interface ContextHolder {
  [contextKey]?: RequestContext;
}

/** The state that the handlers of one HTTP request share. The context is also the `Caller` of the jobs that they dispatch. */
export class RequestContext implements Caller {
  readonly requestId: string;
  /** Who sends the request; undefined before `requireKey` has admitted it. */
  sender: KeyIdentity | undefined;
  /** Undefined if tracing is off. */
  traced: TracedRequest | undefined;
  /** Undefined for a request without an idempotency key. */
  keyed: IdempotentRequest | undefined;
  /** The format in which the limits of the request are reported. */
  format: Pick<AnswerFormat, 'limitHeaders'> | undefined;
  isRecorded = false;
  /** Sends a failure before dispatch; undefined before a model request is read, and for other requests. */
  reply: { fail(error: RouterError): void } | undefined;
  /** The requested model or tool. Set only if the request fails, so that it costs other requests nothing. */
  requestedName: string | undefined;
  readonly #response: ServerResponse;
  #memory: BodyReservation | undefined;

  constructor(response: ServerResponse, requestId: string) {
    this.#response = response;
    this.requestId = requestId;
  }

  /** The sender of the request. It is set only on routes behind `requireKey`. */
  get identity(): KeyIdentity {
    if (!this.sender) throw new Error('the route is not behind requireKey');
    return this.sender;
  }

  get trace(): TraceSpan | undefined {
    return this.traced?.span;
  }

  /** The memory of the body. */
  get memory(): BodyReservation {
    if (!this.#memory) throw new Error('no memory is reserved for a body');
    return this.#memory;
  }

  /**
   * Reserves memory for the request and its body until the response closes.
   * @throws RouterError as `HeldBodies.admit` does
   */
  reserveBody(heldBodies: HeldBodies): BodyReservation {
    const reservation = heldBodies.admit(this.identity);
    this.#memory = reservation;
    this.#response.on('close', () => reservation.release());
    return reservation;
  }

  /** Sets the response headers that report how much of the limits is left. */
  onLimitStatus(status: LimitStatus): void {
    if (!this.format || this.#response.headersSent) return;
    const headers = this.format.limitHeaders(status);
    for (const [name, value] of Object.entries(headers)) this.#response.setHeader(name, value);
  }

  /** Makes a request with an idempotency key continue without its client, so that a repetition of the request gets the answer. */
  onEffects(): void {
    this.keyed?.runUncancelled();
  }

  isGone(): boolean {
    return this.#response.destroyed;
  }

  /** Gives the request a response without a connection, to which the execution of its idempotency key writes. */
  detach(response: ServerResponse, keyed: IdempotentRequest): void {
    const detached = createContext(response, this.requestId);
    detached.sender = this.sender;
    detached.traced = this.traced;
    detached.keyed = keyed;
  }
}

/** Creates the context of a request. `getRequestContext` finds it by the response. */
export function createContext(response: ServerResponse & ContextHolder, requestId: string): RequestContext {
  const context = new RequestContext(response, requestId);
  response[contextKey] = context;
  return context;
}

/** Returns the context that `assignRequestId` has given to a request. */
export function getRequestContext(response: ServerResponse & ContextHolder): RequestContext {
  const context = response[contextKey];
  if (!context) throw new Error('the request has no context');
  return context;
}

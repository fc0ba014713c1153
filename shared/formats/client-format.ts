import type { RouterError } from '#shared/core/errors.ts';
import type { Operation } from '#shared/broker/contract/job-contract.ts';
import type { LimitStanding } from './limit-standing.ts';
import type { Needs } from './needs.ts';
import type { RelayedEvents } from './sse/relayed-events.ts';

/** What the edge reads of a request to generate; the rest of the body is the worker's business. */
export interface RequestParameters {
  /** A model's id, a registry name, or `auto`. */
  model: string;
  stream: boolean;
  needs: Needs;
  /** Tokens that the client wants at most; undefined when it does not say. */
  maxOutput: number | undefined;
  /** The client's `service_tier`, which may ask for another priority than its key's. */
  serviceTier: string | undefined;
}

/** How the router itself says in one wire format what it has to say. */
export interface ClientFormat {
  name: string;
  errorAnswer(error: RouterError, requestId: string): { status: number; headers: Record<string, string>; body: object };
  /** The event that ends a stream which failed midway. */
  errorEvent(error: RouterError, requestId: string): string;
  /** What the client of a waiting stream is sent from time to time. */
  keepAlive: string;
  /** How a client is told where it stands with its limits. */
  limitHeaders(standing: LimitStanding): Record<string, string>;
  /** About how many tokens the relayed part of a broken stream has, for want of an engine that tells. */
  tokensIn(relayed: RelayedEvents): number;
}

/** One wire format for requests to models, as the edge needs it. */
export interface ModelFormat extends ClientFormat {
  /** Request headers that an upstream of this format understands and clients rely on, in lower case. */
  passedHeaders: readonly string[];
  /**
   * Checks a body.
   * @throws RouterError 400 that names the field
   */
  readParameters(body: unknown, operation: Operation): RequestParameters;
}

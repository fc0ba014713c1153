import type { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { ClientApi } from './client-api.ts';
import type { ErrorAnswer } from './retry-headers.ts';
import type { StreamedAnswer } from './sse/streamed-answer.ts';

/** What the router reads of a request to a model. The rest of the body is for the worker that translates it. */
export interface RequestParameters {
  /** A model's id, a name of the registry, or `auto`. */
  model: string;
  /** Whether the client asks for server-sent events. */
  stream: boolean;
  needs: Needs;
  /** Most output tokens the client asks for; undefined when it sets no limit. */
  maxOutput: number | undefined;
  /** Whether the client asks to be served after others (`flex`) or not (`priority`); undefined when it does not say. */
  serviceTier: 'flex' | 'priority' | undefined;
}

/** A request's body, checked. */
export interface ClientRequest {
  parameters: RequestParameters;
  /** The body with these fields added where the client left them out; the same buffer when none is missing. */
  withDefaults: (fields: Readonly<Record<string, Json>>) => Buffer;
}

/** How the router's own answers look in one wire format: errors, limits, and what it adds to a stream. */
export interface AnswerFormat {
  /** Name in the broker's messages, metrics, logs and usage records. Lower case, unique in the registry. */
  name: string;
  /** The answer to a request that failed before any of its answer was sent. */
  errorAnswer: (error: RouterError, requestId: string) => ErrorAnswer<object>;
  /** Headers that report how much of the key's limits is left. */
  limitHeaders: (standing: LimitStanding) => Record<string, string>;
  /** Follows one streamed answer on its way to the client. Called once per request, before its first byte. */
  openStream: (requestId: string) => StreamedAnswer;
}

/** One path of a format and what a request to it asks for. */
export interface ClientRoute {
  /** Path below the API's bases, as `/chat/completions`. */
  path: string;
  operation: Exclude<Operation, 'execute_tool'>;
}

/**
 * One wire format that clients send requests to models in: everything the ingress and the batch runner know of it. How its
 * requests reach an upstream of another format is the business of `shared/translate/<client>-<upstream>/`.
 */
export interface ClientFormat extends AnswerFormat {
  /** The API its routes belong to. Formats of one API share its base URL, key headers and list of models. */
  api: ClientApi;
  routes: readonly ClientRoute[];
  /** Request headers, in lower case, that an upstream of the same format receives as the client sent them. */
  passedHeaders: readonly string[];
  /** What the ids of its answers begin with, as `msg_`. */
  answerIdPrefix: string;
  /**
   * Checks a request's body.
   * @throws RouterError 400 that names the field, or `invalid_json`
   */
  read: (body: Buffer, operation: ClientRoute['operation']) => ClientRequest;
  /** The answer to a request to count tokens; undefined for a format without a route for that. */
  countAnswer?: (inputTokens: number) => JsonObject;
  /** Tokens of a checked request's input, estimated from its size. */
  estimateInput: (request: JsonObject) => number;
}

/** What a request needs of the model that serves it, for choosing a worker. */
export interface Needs {
  tools: boolean;
  vision: boolean;
  thinking: boolean;
  json: boolean;
  /** The input's tokens, roughly: a context window must hold at least about as many. */
  inputTokens: number;
}

/** How much of one limit is left. */
export interface LimitLeft {
  limit: number;
  remaining: number;
  /** When all of it is there again, in ms since 1970. */
  resetsAt: number;
}

/** Where a client stands with its limits of requests and of tokens; what is not limited is undefined. */
export interface LimitStanding {
  /** The time, in ms since 1970. */
  at: number;
  requests: LimitLeft | undefined;
  tokens: LimitLeft | undefined;
}

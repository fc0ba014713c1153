import type { RouterError } from '#shared/core/errors.ts';
import type { HostedKind } from '#shared/core/hosted-kind.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import type { ListSizes } from '#shared/core/json-lists.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { Units, Usage } from '#shared/core/usage.ts';
import type { BackgroundAnswers, BackgroundRequest } from './background-answers.ts';
import type { ClientApi } from './client-api.ts';
import type { Conversation, RequestSigns } from './request-signs.ts';
import type { FileInputs } from './file-inputs.ts';
import type { FormatFiles } from './format-files.ts';
import type { HostedRequest } from './hosted/hosted-request.ts';
import type { MessageParts } from './message-parts.ts';
import type { ReadRelayed } from './relayed-answer.ts';
import type { RequestFeatures } from './request-feature.ts';
import type { ErrorAnswer } from './retry-headers.ts';
import type { StoredAnswers, StoreRequest } from './stored-answers.ts';
import type { StreamedAnswer } from './sse/streamed-answer.ts';
import { randomUUID } from 'node:crypto';

/** The fields of a model request that the router reads. The worker that translates the request reads the rest. */
export interface RequestParameters {
  /** A model's id, a registry name, or `auto`. */
  model: string;
  /**
   * The model that `model` is an alias for; undefined if `model` is no alias. A model or registry entry that is named like the alias takes
   * precedence.
   */
  nameBehind?: string | undefined;
  stream: boolean;
  needs: Needs;
  /** Limit of output tokens; undefined if the client sets no limit, 0 for an answer without tokens. */
  maxOutput: number | undefined;
  /** Maximum use of other units, such as images; absent for a request that uses only tokens. */
  units?: Units | undefined;
  /** The priority that the client asks for: low (`flex`) or high (`priority`); undefined if it asks for neither. */
  serviceTier: 'flex' | 'priority' | undefined;
  /** Identifies the requests that share a prompt cache; undefined for a request without a prompt cache. */
  conversation: Conversation | undefined;
  /**
   * Top-level lists of the body that a worker may pass to an upstream of the same format without parsing them. Maps the name of each list
   * to the number of fields of all objects in it, at any depth. A worker that counts a different number parses the list. Undefined for a
   * short body, and for a body without such lists.
   */
  unread?: ListSizes | undefined;
  /** Signs of the request's purpose; undefined for a request that does not generate, and in a format without such signs. */
  signs?: RequestSigns | undefined;
}

export interface ClientRequest {
  parameters: RequestParameters;
  /** Fields that the first events of a streamed answer repeat; undefined in a format without them. */
  repeated?: JsonObject | undefined;
  /** How the request uses stored answers; undefined in a format without stored answers. */
  store?: StoreRequest | undefined;
  files?: FileInputs | undefined;
  background?: BackgroundRequest | undefined;
  /** Tools that run beside the model; absent if the request has none. */
  hosted?: HostedRequest | undefined;
  /** How several workers can share the request; absent for a request with one input. */
  divisible?: DivisibleRequest | undefined;
  /** Adds these fields to the body if the client has omitted them. Returns the same buffer if no field is missing. */
  withDefaults: (fields: Readonly<Record<string, Json>>) => Buffer;
}

/** The router's own answers in one wire format: errors, limits, and additions to streams. */
export interface AnswerFormat {
  /** Lower case and unique. Used in broker messages, metrics, logs and usage records. */
  name: string;
  /** Returns the answer to a request that failed before the client received any of its answer. */
  errorAnswer: (error: RouterError, requestId: string) => ErrorAnswer<object>;
  /**
   * Lower-case names of the headers that the router passes on with an answer of an upstream of the same format; `*` at the end matches any
   * rest. Absent if the router passes no headers on.
   */
  answerHeaders?: readonly string[];
  /** Returns the headers that report how much of the key's limits is left. */
  limitHeaders: (status: LimitStatus) => Record<string, string>;
  /** Opens one streamed answer. Called once per request, before the answer's first byte. */
  openStream: (opening: StreamOpening) => StreamedAnswer;
}

/** The fields of a streamed answer that are known before its first byte. */
export interface StreamOpening {
  requestId: string;
  /** The id of the answer; undefined for a format in which the worker chooses the id. */
  answerId?: string | undefined;
  /** Request fields that the first events repeat; undefined for a format without such fields. */
  repeated?: JsonObject | undefined;
  /** Number of the next event of an answer that was opened before; undefined for a new answer. */
  nextEvent?: number | undefined;
}

/** One path of a format and its operation. */
export interface ClientRoute {
  /** Path below the API's prefixes, such as `/chat/completions`. */
  path: string;
  operation: Exclude<Operation, 'execute_tool'>;
  /** Whether requests are forms with a file. The router reads a form as JSON in the shape that `formFileSchema` describes. */
  isForm?: boolean;
  /** Converts requests to the shape of the format, and whole answers to the shape of the path. Absent if the shapes are the same. */
  reshape?: {
    request: (body: Buffer) => Buffer;
    /** Returns undefined for an answer that lacks the requested content. */
    answer: (whole: Buffer) => Buffer | undefined;
  };
}

/**
 * A wire format of clients, and everything that the ingress needs to serve it. `shared/translate/<client>-<upstream>/` translates requests
 * and answers for upstreams.
 */
export interface ClientFormat extends AnswerFormat {
  /** The API of the routes. Formats of one API share its base URL, key headers and list of models. */
  api: ClientApi;
  routes: readonly [ClientRoute, ...ClientRoute[]];
  /** Lower-case names of request headers that pass unchanged to an upstream of the same format; `*` at the end matches any rest. */
  passedHeaders: readonly string[];
  answerIdPrefix: string;
  /** Whether streams begin with the number of input tokens, before an upstream has reported it. */
  beginsWithUsage?: boolean;
  /** Whether the ingress chooses the ids of answers, because streams carry them before a worker has begun. */
  choosesAnswerIds?: boolean;
  /** Whether answers carry content sealed for their owner, so that workers need the owner's key. */
  sealsAnswers?: boolean;
  /**
   * Checks a request's body.
   * @throws RouterError with status 400 that names the field, or `invalid_json`
   */
  read: (body: Buffer, operation: ClientRoute['operation']) => ClientRequest;
  /** Details of requests that not every upstream accepts; absent if all upstreams of the format accept the same requests. */
  features?: RequestFeatures | undefined;
  /** How answers are stored, and how clients read them later; undefined for a format without stored answers. */
  stored?: StoredAnswers;
  /** How background responses are written; undefined for a format without them. The router also stores background responses. */
  background?: BackgroundAnswers;
  /** How the API shows files; undefined if the API has no files, or another of its formats shows them. */
  files?: FormatFiles;
  /** Reads the part of a streamed answer that the client has received; absent if workers cannot continue answers of the format. */
  readRelayed?: ReadRelayed;
  /** Converts requests and answers to messages for traces of recorded requests; absent for a format without messages. */
  messageParts?: MessageParts;
  /** Returns the answer to a token count request; undefined for a format without such a route. */
  countAnswer?: (inputTokens: number) => JsonObject;
  /** Estimates the input tokens of a checked request from its size. */
  estimateInput: (request: JsonObject) => number;
}

/** The name under which the router chooses the model. Also the model of a request without `model`, in formats that allow this. */
export const autoModel = 'auto';

/** What a model must support to serve a request. */
export interface Needs {
  tools: boolean;
  vision: boolean;
  thinking: boolean;
  json: boolean;
  /** Estimated input tokens. The model's context window must have room for about as many tokens. */
  inputTokens: number;
  /**
   * Estimated tokens of the longest input, for a request with several inputs. Each input must fit into the context window by itself.
   * Undefined for a request with one input.
   */
  longestInput?: number | undefined;
  /** Kinds of tools that the upstream must run itself; absent if there are none. */
  hosted?: readonly HostedKind[] | undefined;
  /** Names of features in the request, see `ClientFormat.features`; absent if the request has none. */
  features?: readonly string[] | undefined;
}

export interface LimitLeft {
  limit: number;
  remaining: number;
  /** When all of the limit is available again, in ms since 1970. */
  resetsAt: number;
}

/** What is left of the client's limits on requests and tokens. A field is undefined if the client has no such limit. */
export interface LimitStatus {
  /** When the amounts were read, in ms since 1970. */
  at: number;
  requests: LimitLeft | undefined;
  tokens: LimitLeft | undefined;
}

export function createAnswerId({ answerIdPrefix }: Pick<ClientFormat, 'answerIdPrefix'>): string {
  return `${answerIdPrefix}${randomUUID().replaceAll('-', '')}`;
}

/** A request that several workers can share, because each of its inputs has a separate part of the answer. */
export interface DivisibleRequest {
  inputs: number;
  /**
   * Returns the body of a request for the inputs from `from` up to `to` (exclusive).
   * @param defaults fields that are added where the client left them out
   */
  part: (defaults: Readonly<Record<string, Json>>, from: number, to: number) => Buffer;
  /**
   * Joins the answers to the parts into the answer to the whole request.
   * @param answers the answers to the parts, in order
   * @param usage the usage of all parts together
   * @throws RouterError `upstream_failed` if an answer cannot be read
   */
  join: (answers: readonly Buffer[], usage: Usage) => Buffer;
}

import type { RouterError } from '#shared/core/errors.ts';
import type { HostedKind } from '#shared/core/hosted-kind.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import type { ListSizes } from '#shared/core/json-lists.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { Units } from '#shared/core/usage.ts';
import type { BackgroundAnswers, BackgroundRequest } from './background-answers.ts';
import type { ClientApi } from './client-api.ts';
import type { Conversation } from './conversation.ts';
import type { DivisibleRequest } from './divisible-request.ts';
import type { FileInputs } from './file-inputs.ts';
import type { FormatFiles } from './format-files.ts';
import type { HostedRequest } from './hosted/hosted-request.ts';
import type { MessageParts } from './message-parts.ts';
import type { ReadRelayed } from './relayed-answer.ts';
import type { RequestFeatures } from './request-feature.ts';
import type { RequestSigns } from './request-signs.ts';
import type { ErrorAnswer } from './retry-headers.ts';
import type { StoredAnswers, StoreRequest } from './stored-answers.ts';
import type { StreamedAnswer } from './sse/streamed-answer.ts';

/** What the router reads of a request to a model. The worker that translates the request reads the rest. */
export interface RequestParameters {
  /** A model's id, a registry name, or `auto`. */
  model: string;
  /** The name that `model` stands for in a list of models, if nothing else has that name; undefined for most. */
  nameBehind?: string | undefined;
  /** Whether the client asks for server-sent events. */
  stream: boolean;
  needs: Needs;
  /** Limit of output tokens; undefined if the client sets none, 0 for a request whose answer has none. */
  maxOutput: number | undefined;
  /** What it may use besides tokens, at most; absent for a request that is of tokens alone. */
  units?: Units | undefined;
  /** Whether the client asks for low (`flex`) or high (`priority`) priority; undefined if it asks for neither. */
  serviceTier: 'flex' | 'priority' | undefined;
  /** What tells which earlier requests share its prompt cache; undefined for a request that uses none. */
  conversation: Conversation | undefined;
  /**
   * Lists at the top of the body that an upstream of the same format gets as they are: no worker changes one of their elements or
   * has to know it. By name, each with the number of fields of all objects in it. Undefined if there are none, and for a short body.
   */
  unread?: ListSizes | undefined;
  /** What of it tells what it is for; undefined for a request that is not to generate, and in a format without such signs. */
  signs?: RequestSigns | undefined;
}

/** The checked body of a request. */
export interface ClientRequest {
  parameters: RequestParameters;
  /** Fields of the request that the first events of a streamed answer repeat, in a format that has such. */
  repeated?: JsonObject | undefined;
  /** What it has to do with stored answers, in a format whose answers are stored. */
  store?: StoreRequest | undefined;
  /** The files that it names by their ids; absent if it names none. */
  files?: FileInputs | undefined;
  /** Set if its answer is to be made in the background, in a format whose answers can be. */
  background?: BackgroundRequest | undefined;
  /** Tools of the request that run beside the model; absent if it has none. */
  hosted?: HostedRequest | undefined;
  /** How several workers can share it; absent for a request with one input. */
  divisible?: DivisibleRequest | undefined;
  /** Returns the body with these fields where the client left them out; the same buffer if none is missing. */
  withDefaults: (fields: Readonly<Record<string, Json>>) => Buffer;
}

/** The router's own answers in one wire format: errors, limits, and what it adds to a stream. */
export interface AnswerFormat {
  /** Name in the broker's messages, metrics, logs and usage records. Lower case and unique. */
  name: string;
  /** The answer to a request that failed before any of its answer was sent. */
  errorAnswer: (error: RouterError, requestId: string) => ErrorAnswer<object>;
  /**
   * Headers of an upstream of the same format whose answer passes through, in lower case, that reach the client; `*` at the end
   * for any name so begun. Absent for none.
   */
  answerHeaders?: readonly string[];
  /** The headers that report how much of the key's limits is left. */
  limitHeaders: (standing: LimitStanding) => Record<string, string>;
  /** Opens one streamed answer. Called once per request, before its first byte. */
  openStream: (opening: StreamOpening) => StreamedAnswer;
}

/** What is known of a streamed answer before its first byte. */
export interface StreamOpening {
  requestId: string;
  /** The id that the answer will have; undefined for a format whose answers get theirs from the worker. */
  answerId?: string | undefined;
  /** Fields of the request that the answer repeats; undefined for a format whose first events carry none. */
  repeated?: JsonObject | undefined;
  /** Number of the next event of an answer that was opened before; undefined for one that begins. */
  nextEvent?: number | undefined;
}

/** One path of a format and its operation. */
export interface ClientRoute {
  /** Path below the API's prefixes, such as `/chat/completions`. */
  path: string;
  operation: Exclude<Operation, 'execute_tool'>;
  /** Whether its requests are forms with a file; they are read as JSON in the shape that `formFileSchema` describes. */
  isForm?: boolean;
  /** Changes the requests and the answers, neither of them streamed, of a path that has other ones than the format's. */
  reshape?: {
    request: (body: Buffer) => Buffer;
    /** Undefined for an answer that does not have what was asked for. */
    answer: (whole: Buffer) => Buffer | undefined;
  };
}

/**
 * One wire format of clients: all that the ingress needs to serve it. `shared/translate/<client>-<upstream>/` translates it
 * for upstreams.
 */
export interface ClientFormat extends AnswerFormat {
  /** The API that its routes belong to. Formats of one API share its base URL, key headers and list of models. */
  api: ClientApi;
  routes: readonly ClientRoute[];
  /** Request headers, in lower case, that pass unchanged to an upstream of the same format; `*` at the end for any name so begun. */
  passedHeaders: readonly string[];
  /** Prefix of the ids of its answers, such as `msg_`. */
  answerIdPrefix: string;
  /** Whether its streams begin with the number of input tokens, before an upstream has reported it. */
  beginsWithUsage?: boolean;
  /** Whether the ingress chooses the ids of its answers, because its streams carry them before a worker has begun. */
  opensAnswers?: boolean;
  /** Whether its answers carry what is sealed for their owner, so that workers need the owner's key. */
  sealsAnswers?: boolean;
  /**
   * Checks a request's body.
   * @throws RouterError with status 400 that names the field, or `invalid_json`
   */
  read: (body: Buffer, operation: ClientRoute['operation']) => ClientRequest;
  /** Parts of its requests that not every upstream takes; absent for a format whose upstreams all take the same. */
  features?: RequestFeatures | undefined;
  /** How its answers are stored and read again; undefined for a format whose answers are not. */
  stored?: StoredAnswers;
  /** How its answers are made in the background; undefined for a format whose answers are not. They are stored, too. */
  background?: BackgroundAnswers;
  /** How it shows files; undefined for a format whose API has none, or shows them as another of its formats. */
  files?: FormatFiles;
  /** Reads what the client has of a streamed answer; absent for a format whose answers are not continued. */
  readRelayed?: ReadRelayed;
  /** The messages of its requests and answers for traces of recorded requests; absent for a format without messages. */
  messageParts?: MessageParts;
  /** The answer to a request for a token count; undefined for a format without such a route. */
  countAnswer?: (inputTokens: number) => JsonObject;
  /** Input tokens of a checked request, estimated from its size. */
  estimateInput: (request: JsonObject) => number;
}

/** What a request needs of the model that serves it. */
export interface Needs {
  tools: boolean;
  vision: boolean;
  thinking: boolean;
  json: boolean;
  /** Input tokens, estimated: the context window must hold about as many. */
  inputTokens: number;
  /** Input tokens of the longest of several inputs, which the context window holds one by one; undefined for one input. */
  longestInput?: number | undefined;
  /** Kinds of tools that its upstream must run itself; absent for none. */
  hosted?: readonly HostedKind[] | undefined;
  /** Names of its parts that not every upstream takes, see `ClientFormat.features`; absent for none. */
  features?: readonly string[] | undefined;
}

/** How much of one limit is left. */
export interface LimitLeft {
  limit: number;
  remaining: number;
  /** When all of it is available again, in ms since 1970. */
  resetsAt: number;
}

/** How much of a client's limits of requests and tokens is left; undefined where there is no limit. */
export interface LimitStanding {
  /** The time, in ms since 1970. */
  at: number;
  requests: LimitLeft | undefined;
  tokens: LimitLeft | undefined;
}

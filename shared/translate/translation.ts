import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { FieldRule } from './field-rule.ts';
import type { UpstreamFormat } from './upstream-format.ts';

/** The context of an answer: the fields that the router sets, and the functions that a translation needs. */
export interface AnswerContext {
  /** The answer's id in the client's format, such as `chatcmpl-…`. */
  id: string;
  /** Name of the model that serves the request. */
  model: string;
  /** Seconds since 1970. */
  created: number;
  /** Returns the time at which the answer is complete, in seconds since 1970. */
  now?: (() => number) | undefined;
  /** Estimates the input tokens, never 0. Called if the upstream has not reported them. */
  promptTokens?: (() => number) | undefined;
  /** Whether the usage of a chat stream comes in a separate chunk. */
  usageChunk?: boolean | undefined;
  /** The fields that `Translation.recall` returned for the request. */
  recalled?: JsonObject | undefined;
  /**
   * Identifies the upstream and its account. Marks content that only the same upstream and account can read again. Undefined for an
   * upstream whose answers have no such content.
   */
  origin?: string | undefined;
  /** Seals a text that only later requests of the same owner can open. Undefined if the job came without the owner's key. */
  seal?: ((text: string) => string) | undefined;
}

/** The model traits that a request is translated for. */
export interface ModelTraits {
  /** The upstream's name for the model. */
  model: string;
  /** The model's limit of output tokens; undefined if unknown. */
  maxOutput?: number | undefined;
  /**
   * The thinking modes of the model: `adaptive` takes an effort, `enabled` a budget. Empty if the model does not think, undefined if
   * unknown.
   */
  thinkingTypes?: readonly ('adaptive' | 'enabled')[] | undefined;
  /** Whether the effort `none` turns the model's thinking off. */
  switchesThinking?: boolean | undefined;
  /** Whether the upstream accepts PDF files; otherwise it accepts only text documents. */
  takesFiles?: boolean | undefined;
  /** Whether the upstream writes and reads the Responses format's `compaction` items. */
  compacts?: boolean | undefined;
  /** Whether the upstream encrypts its thinking if a request in the Responses format asks for it. */
  encrypts?: boolean | undefined;
  /** Whether clients may name prompts that are stored in the provider's account. */
  takesPrompts?: boolean | undefined;
  /** See `AnswerContext.origin`. */
  origin?: string | undefined;
  /** Whether the upstream returns only one choice, however many a request asks for. */
  makesOneChoice?: boolean | undefined;
  /** Whether the upstream has custom tools in the chat format; otherwise functions replace them. */
  takesCustomTools?: boolean | undefined;
  /** Whether a command-line agent accepts images. */
  takesImages?: boolean | undefined;
  /** Whether a command-line agent offers the client's tools to its model. */
  takesTools?: boolean | undefined;
  /** Whether a command-line agent supports answers in a JSON schema. */
  takesSchemas?: boolean | undefined;
  /** Whether the upstream has its own limits of output tokens, so that a request needs none. */
  limitsItself?: boolean | undefined;
  /** Whether the upstream searches the web itself for requests of the client's format. */
  searches?: boolean | undefined;
  /** Opens a text that an earlier answer to the same owner sealed. Returns undefined for any other text. */
  unseal?: ((sealed: string) => string | undefined) | undefined;
}

/** How an answer has ended. */
export interface Ending {
  usage: Usage;
  /** The finish reason of the chat format: `stop`, `length`, `tool_calls` or `content_filter`. */
  finishReason: string;
}

/**
 * Translates one streamed answer, event by event. Results are text ready to be sent: complete server-sent events of the client's format, or
 * '' if there is nothing to send.
 */
export interface StreamTranslation {
  /**
   * Whether any content has been translated: text, thinking, a refusal or a tool call. Events before it, such as a role or `message_start`,
   * only open the stream.
   */
  readonly hasContent: boolean;
  /** Whether any choice of the answer has not ended yet. Absent for a translation whose answers have one choice. */
  readonly awaitsChoice?: boolean | undefined;
  /**
   * Translates one upstream event.
   * @param data the event's data, JSON text (or `[DONE]` in the chat format)
   * @throws RouterError with the error that the event reports; `upstream_failed` if it cannot be read
   */
  event(data: string): string;
  /**
   * Translates the end of the stream. Called once.
   * @throws RouterError `upstream_failed` if the answer is incomplete
   */
  end(): { text: string; ending: Ending };
}

/**
 * Translates between one client format and one upstream format, which may be the same. A translation is pure: it uses no clock and no
 * randomness, and has no input or output beyond arguments and results.
 * @template Request the upstream's request
 */
export interface Translation<Request = JsonObject> {
  client: ClientFormat;
  upstream: UpstreamFormat;
  /** The effect on each field of the client's request, for the tables of `docs/translation.md`. */
  requestRules?: readonly FieldRule[];
  /** The effect on each field of the upstream's answer, for the same tables. */
  answerRules?: readonly FieldRule[];
  /** Whether the headers that the ingress passes on from the client are sent to the upstream. */
  passesHeaders: boolean;
  /**
   * Whether the lists of `RequestParameters.unread` may stay unparsed. Such a list holds one string in place of its elements, which the
   * translation keeps.
   */
  passesLists?: boolean;
  /**
   * Returns the request fields that the translation of the answer needs; absent if it needs none. They stay in memory while the answer
   * runs.
   */
  recall?: (body: JsonObject) => JsonObject;
  /**
   * Translates a client's request for the upstream.
   * @throws RouterError with status 400 that names a field the upstream cannot serve
   */
  request: (body: JsonObject, traits: ModelTraits) => Request;
  /**
   * Translates an upstream's answer that is not streamed.
   * @throws RouterError `upstream_failed` if the body is not an answer
   */
  reply: (body: JsonObject, answerContext: AnswerContext) => { body: JsonObject; ending: Ending };
  /** Describes the end of a streamed answer of plain bytes, which are sent on as received. Set in formats whose streams are plain bytes. */
  bytes?: { ending: (answerContext: AnswerContext) => Ending; mayBeEmpty?: boolean };
  stream: (answerContext: AnswerContext) => StreamTranslation;
  /** Returns the JSON path, in the client's request, of a URL that the upstream's request contains. Used for error messages. */
  pathOfAddress?: (body: JsonObject, address: string) => string | undefined;
}

/**
 * Finds the translation between two formats.
 * @param client name of the client format
 * @throws RouterError `internal` if there is none, because a worker gets only jobs of formats that it has announced
 */
export function findTranslation<Request>(
  translations: readonly Translation<Request>[],
  client: string,
  upstream: UpstreamFormat,
): Translation<Request> {
  const found = translations.find((each) => each.client.name === client && each.upstream === upstream);
  if (!found) throw new RouterError('internal', `No translation from ${client} to ${upstream.name} is known here.`);
  return found;
}

/** Returns the names of client formats with a translation to an upstream format. A worker announces them. */
export function findClientFormats<Request>(
  translations: readonly Translation<Request>[],
  upstream: UpstreamFormat,
): string[] {
  return translations.filter((each) => each.upstream === upstream).map(({ client }) => client.name);
}

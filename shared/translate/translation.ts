import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { FieldRule } from './field-rule.ts';
import type { UpstreamFormat } from './upstream-format.ts';

/** The fields of an answer that the router sets. */
export interface Minted {
  /** The answer's id in the client's format, such as `chatcmpl-…`. */
  id: string;
  /** Name of the model that serves the request. */
  model: string;
  /** Seconds since 1970. */
  created: number;
  /** The time at which the answer is complete, in seconds since 1970. */
  now?: (() => number) | undefined;
  /** Estimates the input tokens, never 0. Called if the upstream has not reported them. */
  promptTokens?: (() => number) | undefined;
  /** Whether the usage of a chat stream comes in a chunk of its own. */
  usageChunk?: boolean | undefined;
  /** What `Translation.recall` has kept of the request. */
  recalled?: JsonObject | undefined;
  /** What stands for the upstream and its account, for what only these can read again; undefined for one without such. */
  origin?: string | undefined;
  /** Seals a text that only later requests of the same owner can open; undefined if the job came without a key. */
  seal?: ((text: string) => string) | undefined;
}

/** The model that a request is translated for. */
export interface Target {
  /** The upstream's name for the model. */
  model: string;
  /** The model's limit of output tokens, where known. */
  maxOutput?: number | undefined;
  /** How the model can be asked to think, where that is known: with an effort, or with a budget; empty for a model that does not think. */
  thinkingTypes?: readonly ('adaptive' | 'enabled')[] | undefined;
  /** Whether the upstream can be asked by the effort `none` not to think. */
  switchesThinking?: boolean | undefined;
  /** Whether the upstream accepts PDF files; otherwise only text documents are accepted. */
  takesFiles?: boolean | undefined;
  /** Whether the upstream makes and reads the Responses format's `compaction` items. */
  compacts?: boolean | undefined;
  /** Whether the upstream encrypts its thinking where a request in the Responses format asks for that. */
  encrypts?: boolean | undefined;
  /** Whether clients may name prompts that are stored in the provider's account. */
  takesPrompts?: boolean | undefined;
  /** See `Minted.origin`. */
  origin?: string | undefined;
  /** Whether the upstream makes one choice of an answer, however many a request asks for. */
  makesOneChoice?: boolean | undefined;
  /** Whether the upstream has custom tools in the chat format; functions stand for them otherwise. */
  takesCustomTools?: boolean | undefined;
  /** Whether a command-line agent accepts images. */
  takesImages?: boolean | undefined;
  /** Whether a command-line agent offers the client's tools to its model. */
  takesTools?: boolean | undefined;
  /** Whether a command-line agent has its model answer in a JSON schema. */
  takesSchemas?: boolean | undefined;
  /** Whether the upstream has limits of output tokens of its own, so that a request needs none. */
  limitsItself?: boolean | undefined;
  /** Whether the upstream searches the web itself for requests of the client's format. */
  searches?: boolean | undefined;
  /** Opens a text that an earlier answer to the same owner sealed; returns undefined for any other text. */
  unseal?: ((sealed: string) => string | undefined) | undefined;
}

/** Usage and finish reason of a complete answer. */
export interface Ending {
  usage: Usage;
  /** The finish reason of the chat format: `stop`, `length`, `tool_calls` or `content_filter`. */
  finishReason: string;
}

/**
 * Translates one streamed answer, event by event. Results are text ready to be sent: complete server-sent events of the
 * client's format, or '' for none.
 */
export interface StreamTranslation {
  /**
   * Whether any content has been translated: text, thinking, a refusal or a tool call. What comes before it, such as a role or
   * `message_start`, only opens the stream.
   */
  readonly hasContent: boolean;
  /** Whether, after one choice has ended, another one of the answer has not; absent where an answer has one. */
  readonly awaitsChoice?: boolean | undefined;
  /**
   * Translates one upstream event.
   * @param data the event's data, JSON text (or `[DONE]` in the chat format)
   * @throws RouterError if the event is an error, `upstream_failed` if it cannot be read
   */
  event(data: string): string;
  /**
   * Translates the end of the stream. Called once.
   * @throws RouterError `upstream_failed` if the answer is incomplete
   */
  end(): { text: string; ending: Ending };
}

/**
 * Translates between one client format and one upstream format, the same or another. Pure: no clock, no randomness, no
 * input or output beyond arguments and results.
 * @template Request the upstream's request
 */
export interface Translation<Request = JsonObject> {
  client: ClientFormat;
  upstream: UpstreamFormat;
  /** The effect on each field of the client's request; for the tables of `docs/translation.md`. */
  requestRules?: readonly FieldRule[];
  /** The effect on each field of the upstream's answer. */
  answerRules?: readonly FieldRule[];
  /** Whether the client's passed headers are sent to the upstream. */
  passesHeaders: boolean;
  /** Whether lists of `RequestParameters.unread` may have one text in the place of their elements, which then stays there. */
  passesLists?: boolean;
  /** What the translation of the answer needs to know of the request; undefined for nothing. Kept while the answer runs. */
  recall?: (body: JsonObject) => JsonObject;
  /**
   * Translates a client's request for the upstream.
   * @throws RouterError with status 400 that names a field the upstream cannot serve
   */
  request: (body: JsonObject, target: Target) => Request;
  /**
   * Translates an upstream's answer that is not streamed.
   * @throws RouterError `upstream_failed` if it is not an answer
   */
  reply: (body: JsonObject, minted: Minted) => { body: JsonObject; ending: Ending };
  /** Set where streamed answers are plain bytes that pass as they come, instead of `stream`: how such an answer ends. */
  bytes?: { ending: (minted: Minted) => Ending; mayBeEmpty?: boolean };
  /** Begins the translation of a streamed answer. */
  stream: (minted: Minted) => StreamTranslation;
  /** The path in the client's request of an address in the upstream's request; for error messages. */
  pathOfAddress?: (body: JsonObject, address: string) => string | undefined;
}

/**
 * Finds the translation between two formats.
 * @param client name of the client format
 * @throws RouterError `internal` if there is none: a worker is only given jobs of the formats that it announced
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

/** Names of the client formats with a translation to an upstream format; a worker announces them. */
export function clientFormatsOn<Request>(
  translations: readonly Translation<Request>[],
  upstream: UpstreamFormat,
): string[] {
  return translations.filter((each) => each.upstream === upstream).map(({ client }) => client.name);
}

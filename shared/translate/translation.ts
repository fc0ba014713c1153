import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { UpstreamFormat } from './upstream-format.ts';
import { createFeatureKey } from '#shared/formats/request-feature.ts';

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
  /** Estimates the input tokens, at least 1. Called if the upstream has not reported them. */
  promptTokens?: (() => number) | undefined;
  /** The fields that `Translation.recall` returned for the request. */
  recalled?: JsonObject | undefined;
  /**
   * Identifies the upstream and its account, and marks content that only this upstream and account can read again. Undefined if the
   * upstream's answers have no such content.
   */
  origin?: string | undefined;
  /** Seals a text that only later requests of the same owner can open. Undefined if the job came without the owner's key. */
  seal?: ((text: string) => string) | undefined;
}

/** The properties of a model and its upstream that the translation of a request depends on. */
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
  /** Whether a command-line agent supports answers that follow a JSON schema. */
  takesSchemas?: boolean | undefined;
  /** Whether the upstream has its own limits of output tokens, so that a request needs none. */
  limitsItself?: boolean | undefined;
  /** Whether the upstream itself searches the web for requests of the client's format. */
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
 * Translates one streamed answer, event by event. Each method returns text to send: complete server-sent events of the client's format, or
 * '' if there is nothing to send.
 */
export interface StreamTranslation {
  /**
   * Whether any content has been translated: text, thinking, a refusal or a tool call. Events before the first content, such as a role or
   * `message_start`, only open the stream.
   */
  readonly hasContent: boolean;
  /** Whether any choice of the answer has not ended yet. Absent for a translation whose answers have one choice. */
  readonly awaitsChoice?: boolean | undefined;
  /** Whether the events of the answer stay in memory until its end. Absent for a translation that keeps at most their content. */
  readonly keepsEvents?: boolean | undefined;
  /**
   * Translates one upstream event.
   * @param data the event's data, which is JSON text (or `[DONE]` in the chat format)
   * @throws RouterError with the error that the event reports; `upstream_failed` if the event cannot be read
   */
  translateEvent(data: string): string;
  /**
   * Translates the end of the stream. Called once.
   * @throws RouterError `upstream_failed` if the answer is incomplete
   */
  translateEnd(): { text: string; ending: Ending };
}

/**
 * Translates between a client format and an upstream format, which may be the same. A translation is pure: it uses no clock and no
 * randomness, and depends only on its arguments.
 * @template Request the upstream's request
 */
export interface Translation<Request = JsonObject> {
  client: ClientFormat;
  upstream: UpstreamFormat;
  /** Whether the upstream gets the client's headers that the ingress passes on. */
  passesHeaders: boolean;
  /**
   * Whether the lists of `RequestParameters.unread` may stay unparsed. An unparsed list holds one string in place of its elements. The
   * translation sends this string unchanged.
   */
  passesLists?: boolean;
  /**
   * Returns the request fields that the translation of the answer needs. The fields stay in memory until the answer ends. Absent if the
   * answer needs no fields of the request.
   */
  recallFields?: (body: JsonObject) => JsonObject;
  /**
   * Translates a client's request for the upstream.
   * @throws RouterError with status 400 that names a field the upstream cannot serve
   */
  translateRequest: (body: JsonObject, traits: ModelTraits) => Request;
  /**
   * Translates an upstream's answer that is not streamed.
   * @throws RouterError `upstream_failed` if the body is not an answer
   */
  translateReply: (body: JsonObject, answerContext: AnswerContext) => { body: JsonObject; ending: Ending };
  /** Describes the end of a streamed answer that is plain bytes. The bytes are sent unchanged. Absent in formats that stream events. */
  bytes?: { ending: (answerContext: AnswerContext) => Ending; mayBeEmpty?: boolean };
  createStream: (answerContext: AnswerContext) => StreamTranslation;
  /** Finds a URL of the upstream's request in the client's request. Returns its JSON path there, for error messages. */
  findUrlPath?: (body: JsonObject, url: string) => string | undefined;
}

/**
 * @param client name of the client format
 * @throws RouterError `internal` if there is no translation. A worker gets only jobs of formats that it has announced, so this is a bug
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

/** Returns the names of the client formats that have a translation to an upstream format. A worker announces these names. */
export function findClientFormats<Request>(
  translations: readonly Translation<Request>[],
  upstream: UpstreamFormat,
): string[] {
  return translations.filter((each) => each.upstream === upstream).map(({ client }) => client.name);
}

/**
 * Returns the client-format features that an upstream lacks. The upstream lacks a feature if the translation refuses the feature's example
 * request. So the code that refusesExample requests also decides what the worker announces.
 * @param translations the translations to the upstream's format, one for each client format
 * @returns keys of the features, see `createFeatureKey`
 */
export function findRefusedFeatures<Request>(
  translations: readonly Translation<Request>[],
  traits: ModelTraits,
): string[] {
  return translations.flatMap((translation) => {
    const { name: format, features } = translation.client;
    const lacked = (features?.features ?? []).filter(({ example }) => refusesExample(translation, example, traits));
    return lacked.map(({ name }) => createFeatureKey(name, format));
  });
}

function refusesExample<Request>(
  { translateRequest: request }: Translation<Request>,
  example: JsonObject,
  traits: ModelTraits,
): boolean {
  try {
    request({ model: traits.model, ...example }, traits);
    return false;
  } catch (error) {
    if (error instanceof RouterError && error.code === 'unsupported_parameter') return true;
    throw error;
  }
}

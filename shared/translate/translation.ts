import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { FieldRule } from './field-rule.ts';
import type { UpstreamFormat } from './upstream-format.ts';

/** What the router itself puts into an answer. */
export interface Minted {
  /** The answer's id in the client's format, as `chatcmpl-…`. */
  id: string;
  /** The model that really serves. */
  model: string;
  /** Seconds since 1970. */
  created: number;
  /** Estimates the input's tokens, never 0. Called when the upstream does not report them, or has not yet. */
  promptTokens?: (() => number) | undefined;
}

/** What a translated request needs to know of the model it goes to. */
export interface Target {
  /** The model's id as the upstream knows it. */
  model: string;
  /** Tokens of output the model can make at most, where known. */
  maxOutput?: number | undefined;
  /** Whether the upstream takes PDF files; without, documents other than text are refused. */
  takesFiles?: boolean | undefined;
  /** Whether a command-line agent takes images. */
  takesImages?: boolean | undefined;
}

/** How an answer ended, apart from the bytes the client gets. */
export interface Ending {
  usage: Usage;
  /** In OpenAI's words: stop, length, tool_calls, content_filter. */
  finishReason: string;
}

/**
 * Translates one streamed answer, event by event. Holds the state of that one answer.
 * Bytes come back as text ready for the socket: complete server-sent events of the client's format, or '' for nothing.
 */
export interface StreamTranslation {
  /**
   * Takes one upstream event.
   * @param data the event's data, JSON text (or `[DONE]` in the chat format)
   * @throws RouterError `upstream_failed` when the event is an error or cannot be read
   */
  event(data: string): string;
  /**
   * Called once when the upstream has closed the stream.
   * @throws RouterError `upstream_failed` when the stream stopped before the answer was complete
   */
  end(): { text: string; ending: Ending };
}

/**
 * How requests of one client format are served by an upstream of one format, the same or another. Pure: no clock, no
 * randomness, no input or output beyond arguments and results.
 * @template Request what the upstream is sent
 */
export interface Translation<Request = JsonObject> {
  client: ClientFormat;
  upstream: UpstreamFormat;
  /** What becomes of each field of the client's request; for the tables of `docs/translation.md`. */
  requestRules?: readonly FieldRule[];
  /** What becomes of each field of the upstream's answer. */
  answerRules?: readonly FieldRule[];
  /** Whether the client's passed headers mean something to the upstream. */
  passesHeaders: boolean;
  /**
   * The upstream's request for a client's request.
   * @throws RouterError 400 that names the field when something cannot be honoured
   */
  request: (body: JsonObject, target: Target) => Request;
  /**
   * The client's whole answer for an upstream's whole answer.
   * @throws RouterError `upstream_failed` when it is not an answer
   */
  reply: (body: JsonObject, minted: Minted) => { body: JsonObject; ending: Ending };
  stream: (minted: Minted) => StreamTranslation;
  /** The path, in the client's request, of an address that the upstream's request carries; for error messages. */
  pathOfAddress?: (body: JsonObject, address: string) => string | undefined;
}

/**
 * The translation that serves clients of a format on upstreams of a format.
 * @param client name of the client format
 * @throws RouterError `internal` when there is none: a worker is only given jobs of the formats it has announced
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

/** Names of the client formats that can be served on upstreams of a format; a worker announces them. */
export function clientFormatsOn<Request>(
  translations: readonly Translation<Request>[],
  upstream: UpstreamFormat,
): string[] {
  return translations.filter((each) => each.upstream === upstream).map(({ client }) => client.name);
}

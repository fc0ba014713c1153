import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';

/** What the router itself puts into an answer. */
export interface Minted {
  /** The answer's id in the client's format: `chatcmpl-…` or `msg_…`. */
  id: string;
  /** The model that really serves. */
  model: string;
  /** Seconds since 1970. */
  created: number;
  /** Estimates the input's tokens, never 0. Asked when the upstream does not tell them, or has not told them yet. */
  promptTokens?: (() => number) | undefined;
}

/** What a translated request needs to know of the model it goes to. */
export interface Target {
  /** The model's id as the upstream knows it. */
  model: string;
  /** Tokens of output the model can make at most, where known. */
  maxOutput?: number | undefined;
  /** Whether a chat upstream takes PDF files; without, documents other than text are refused. */
  takesFiles?: boolean | undefined;
}

/** How an answer ended, told apart from the bytes the client gets. */
export interface Ending {
  usage: Usage;
  /** In the chat format's words: stop, length, tool_calls, content_filter. */
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
 * How a client of one format is served by an upstream of another, or of the same. Pure: no clock, no randomness, no
 * input or output beyond arguments and results.
 */
export interface Pair {
  /**
   * The upstream's request for a client's request.
   * @throws RouterError 400 that names the field when something cannot be honoured
   */
  request(body: JsonObject, target: Target): JsonObject;
  /**
   * The client's whole answer for an upstream's whole answer.
   * @throws RouterError `upstream_failed` when it is not an answer
   */
  reply(body: JsonObject, minted: Minted): { body: JsonObject; ending: Ending };
  stream(minted: Minted): StreamTranslation;
}

import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ChatMessage } from '#shared/formats/chat/request.ts';

/**
 * Reasoning that a chat upstream wants back with the next request, besides text and calls. Gemini signs calls and texts
 * (`extra_content.google.thought_signature`) and refuses unsigned calls. OpenRouter lists the reasoning of the model behind it
 * (`reasoning_details`).
 */
export type ReturnedReasoning = {
  /** Gemini's signature of the message. */
  signature?: string;
  /** Gemini's signatures of calls, by the client's id of the call. */
  calls?: Record<string, string>;
  details?: JsonObject[];
};

/**
 * Maximum characters of reasoning that one answer returns. An answer with more returns none of it, because the upstream would refuse a
 * part.
 */
const maxCharacters = 1024 * 1024;

/** Collects, from the messages or deltas of one answer, the reasoning that the upstream wants back. */
export class ReasoningCollector {
  #signature: string | undefined;
  #calls: Record<string, string> = {};
  #details: JsonObject[] = [];
  #size = 0;
  #isEmpty = true;

  /** Whether no reasoning waits for `take`, as is the case after nearly every piece of an answer. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Whether the signature of a call waits for `take`. The upstream refuses the call without the signature. */
  get signsCalls(): boolean {
    return Object.keys(this.#calls).length > 0;
  }

  add(message: JsonObject): void {
    this.#signature = this.#kept(signatureIn(message)) ?? this.#signature;
    const { reasoning_details: details } = message;
    if (!Array.isArray(details)) return;
    for (const detail of details)
      if (isDetail(detail) && this.#kept(JSON.stringify(detail))) this.#details.push(detail);
  }

  /** @param id the client's id of the call */
  addCall(id: string, call: Json): void {
    const signature = isJsonObject(call) ? this.#kept(signatureIn(call)) : undefined;
    if (signature !== undefined) this.#calls = { ...this.#calls, [id]: signature };
  }

  /** Returns the reasoning since the last call of this method; undefined if there is none. */
  take(): ReturnedReasoning | undefined {
    const taken: ReturnedReasoning = {
      ...(this.#signature !== undefined && { signature: this.#signature }),
      ...(this.signsCalls && { calls: this.#calls }),
      ...(this.#details.length > 0 && { details: joined(this.#details) }),
    };
    this.#isEmpty = true;
    this.#signature = undefined;
    this.#calls = {};
    this.#details = [];
    return Object.keys(taken).length === 0 || this.#size > maxCharacters ? undefined : taken;
  }

  #kept(text: string | undefined): string | undefined {
    if (text === undefined) return undefined;
    this.#isEmpty = false;
    this.#size += text.length;
    return this.#size > maxCharacters ? undefined : text;
  }
}

/** Reads the result of `ReasoningCollector.take` from JSON, which may come from a client; undefined for any other value. */
export function readReturned(value: Json | undefined): ReturnedReasoning | undefined {
  if (!isJsonObject(value)) return undefined;
  const { signature, calls, details } = value;
  const signed = isJsonObject(calls) ? Object.entries(calls).filter(([, each]) => typeof each === 'string') : [];
  return {
    ...(typeof signature === 'string' && { signature }),
    calls: Object.fromEntries(signed) as Record<string, string>,
    details: Array.isArray(details) ? details.filter(isDetail) : [],
  };
}

/** Adds the reasoning that the upstream wants back to an assistant's message. */
export function withReturned(message: ChatMessage, returned: readonly ReturnedReasoning[]): ChatMessage {
  if (message.role !== 'assistant' || returned.length === 0) return message;
  const signature = returned.findLast((each) => each.signature !== undefined)?.signature;
  const signatures = new Map(returned.flatMap(({ calls }) => Object.entries(calls ?? {})));
  const details = joined(returned.flatMap((each) => each.details ?? []));
  const { reasoning_content: text, tool_calls: calls, ...rest } = message;
  return {
    ...rest,
    // The list contains the text, too.
    ...(details.length > 0 ? { reasoning_details: details } : text !== undefined && { reasoning_content: text }),
    ...(signature !== undefined && { extra_content: extraContent(signature) }),
    ...(Array.isArray(calls) && {
      tool_calls: calls.map((call) => {
        const own = signatures.get(call.id);
        return own === undefined ? call : { ...call, extra_content: extraContent(own) };
      }),
    }),
  };
}

function extraContent(signature: string): JsonObject {
  return { google: { thought_signature: signature } };
}

function signatureIn({ extra_content: extra }: JsonObject): string | undefined {
  const google = isJsonObject(extra) ? extra['google'] : undefined;
  const signature = isJsonObject(google) ? google['thought_signature'] : undefined;
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

function isDetail(detail: Json): detail is JsonObject & { type: string } {
  return isJsonObject(detail) && typeof detail['type'] === 'string' && detail['type'].startsWith('reasoning.');
}

/** Fields whose text may be split over several details. */
const splitFields = ['text', 'summary'] as const;

/** Joins consecutive pieces of text with the same type and index. */
function joined(details: readonly JsonObject[]): JsonObject[] {
  const whole: JsonObject[] = [];
  for (const detail of details) {
    const last = whole.at(-1);
    const isPiece =
      last !== undefined &&
      detail['type'] !== 'reasoning.encrypted' &&
      last['type'] === detail['type'] &&
      last['index'] === detail['index'] &&
      (last['id'] ?? detail['id'] ?? null) === (detail['id'] ?? last['id'] ?? null);
    if (isPiece) whole[whole.length - 1] = joinedPair(last, detail);
    else whole.push(detail);
  }
  return whole;
}

/** Joins two pieces. The second's fields replace the first's unless they are null; its texts continue the first's. */
function joinedPair(first: JsonObject, second: JsonObject): JsonObject {
  const present = Object.fromEntries(Object.entries(second).filter(([, value]) => value !== null));
  const texts = splitFields.flatMap((field) => {
    const [before, after] = [first[field], second[field]];
    return typeof before === 'string' && typeof after === 'string' ? [[field, before + after]] : [];
  });
  return { ...first, ...present, ...Object.fromEntries(texts) };
}

import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ChatMessage } from '#shared/formats/chat/request.ts';

/**
 * Reasoning, besides text and calls, that a chat upstream needs in the next request. Gemini signs calls and texts
 * (`extra_content.google.thought_signature`) and refuses unsigned calls. OpenRouter lists the reasoning of the model behind it
 * (`reasoning_details`).
 */
export type ReturnedReasoning = {
  /** Gemini's signature of the message. */
  signature?: string;
  /** Gemini's signatures of calls, by the id that the client has for the call. */
  calls?: Record<string, string>;
  details?: JsonObject[];
};

/** Maximum characters of this reasoning in one answer. If an answer has more, none is kept, because the upstream would refuse a part. */
const maxCharacters = 1024 * 1024;

/** Collects the reasoning that the upstream wants back from the messages or deltas of one answer. */
export class ReasoningCollector {
  #signature: string | undefined;
  #calls: Record<string, string> = {};
  #details: JsonObject[] = [];
  #size = 0;
  #isEmpty = true;

  /** Whether `take` would return nothing. This is so after nearly every piece of an answer. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Whether `take` would return the signature of a call. The upstream refuses the call without the signature. */
  get hasCallSignatures(): boolean {
    return Object.keys(this.#calls).length > 0;
  }

  add(message: JsonObject): void {
    this.#signature = this.#keepWithinLimit(readSignature(message)) ?? this.#signature;
    const { reasoning_details: details } = message;
    if (!Array.isArray(details)) return;
    for (const detail of details)
      if (isDetail(detail) && this.#keepWithinLimit(JSON.stringify(detail))) this.#details.push(detail);
  }

  /**
   * Adds the signature of a call, if the upstream has sent one.
   * @param id the id that the client has for the call
   */
  addCall(id: string, call: Json): void {
    const signature = isJsonObject(call) ? this.#keepWithinLimit(readSignature(call)) : undefined;
    if (signature !== undefined) this.#calls = { ...this.#calls, [id]: signature };
  }

  /** Returns the reasoning that was added since the last `take`; undefined if there is none. */
  take(): ReturnedReasoning | undefined {
    const reasoning: ReturnedReasoning = {
      ...(this.#signature !== undefined && { signature: this.#signature }),
      ...(this.hasCallSignatures && { calls: this.#calls }),
      ...(this.#details.length > 0 && { details: joinDetails(this.#details) }),
    };
    this.#isEmpty = true;
    this.#signature = undefined;
    this.#calls = {};
    this.#details = [];
    return Object.keys(reasoning).length === 0 || this.#size > maxCharacters ? undefined : reasoning;
  }

  #keepWithinLimit(text: string | undefined): string | undefined {
    if (text === undefined) return undefined;
    this.#isEmpty = false;
    this.#size += text.length;
    return this.#size > maxCharacters ? undefined : text;
  }
}

/** Reads a result of `ReasoningCollector.take` from JSON that may come from a client; undefined for any other value. */
export function readReturnedReasoning(value: Json | undefined): ReturnedReasoning | undefined {
  if (!isJsonObject(value)) return undefined;
  const { signature, calls, details } = value;
  const signedCalls = isJsonObject(calls) ? Object.entries(calls).filter(([, each]) => typeof each === 'string') : [];
  return {
    ...(typeof signature === 'string' && { signature }),
    calls: Object.fromEntries(signedCalls) as Record<string, string>,
    details: Array.isArray(details) ? details.filter(isDetail) : [],
  };
}

/** Adds the reasoning that the upstream wants back to an assistant's message. */
export function addReturnedReasoning(message: ChatMessage, returned: readonly ReturnedReasoning[]): ChatMessage {
  if (message.role !== 'assistant' || returned.length === 0) return message;
  const signature = returned.findLast((each) => each.signature !== undefined)?.signature;
  const signatures = new Map(returned.flatMap(({ calls }) => Object.entries(calls ?? {})));
  const details = joinDetails(returned.flatMap((each) => each.details ?? []));
  const { reasoning_content: text, tool_calls: calls, ...rest } = message;
  return {
    ...rest,
    // The details contain the text of the thinking, too.
    ...(details.length > 0 ? { reasoning_details: details } : text !== undefined && { reasoning_content: text }),
    ...(signature !== undefined && { extra_content: createExtraContent(signature) }),
    ...(Array.isArray(calls) && {
      tool_calls: calls.map((call) => {
        const callSignature = signatures.get(call.id);
        return callSignature === undefined ? call : { ...call, extra_content: createExtraContent(callSignature) };
      }),
    }),
  };
}

function createExtraContent(signature: string): JsonObject {
  return { google: { thought_signature: signature } };
}

function readSignature({ extra_content: extra }: JsonObject): string | undefined {
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
function joinDetails(details: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = [];
  for (const detail of details) {
    const last = joined.at(-1);
    const isPiece =
      last !== undefined &&
      detail['type'] !== 'reasoning.encrypted' &&
      last['type'] === detail['type'] &&
      last['index'] === detail['index'] &&
      (last['id'] ?? detail['id'] ?? null) === (detail['id'] ?? last['id'] ?? null);
    if (isPiece) joined[joined.length - 1] = joinPair(last, detail);
    else joined.push(detail);
  }
  return joined;
}

/**
 * Joins two pieces. Texts of the second continue those of the first. Other fields of the second replace those of the first unless they are
 * null.
 */
function joinPair(first: JsonObject, second: JsonObject): JsonObject {
  const present = Object.fromEntries(Object.entries(second).filter(([, value]) => value !== null));
  const texts = splitFields.flatMap((field) => {
    const [before, after] = [first[field], second[field]];
    return typeof before === 'string' && typeof after === 'string' ? [[field, before + after]] : [];
  });
  return { ...first, ...present, ...Object.fromEntries(texts) };
}

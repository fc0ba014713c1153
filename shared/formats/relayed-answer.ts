import { isJsonObject, readType, type Json, type JsonObject } from '#shared/core/json.ts';

/** The part of a streamed answer that the client has received. It is the beginning of one text, so a worker can continue it exactly. */
export interface RelayedAnswer {
  id: string;
  /** Seconds since 1970; undefined in a format without creation times. */
  created?: number | undefined;
  /** The text in pieces: one piece per event if the format numbers its events, otherwise any number of pieces. */
  pieces: readonly string[];
  /** Number of events that the client has received; undefined if the format does not number its events. */
  events?: number | undefined;
  inputTokens?: number | undefined;
}

/**
 * Reads the events at the beginning of an answer.
 * @returns the part of the answer; if no worker can continue the answer, the reason as a text for the log
 */
export type ReadRelayed = (events: readonly JsonObject[]) => RelayedAnswer | string;

export class RelayedAnswerBuilder {
  id = '';
  created: number | undefined;
  inputTokens: number | undefined;
  readonly pieces: string[] = [];

  /** @param events number of events in a format that numbers them; if undefined, the pieces are joined into one */
  build(events?: number): RelayedAnswer | string {
    const { id, created, inputTokens } = this;
    const text = this.pieces.join('');
    // An engine cannot continue after half a character.
    if (!text.isWellFormed()) return 'the text ends in the middle of a character';
    if (id === '') return 'the answer has no id yet';
    return { id, created, inputTokens, events, pieces: events === undefined ? [text] : this.pieces };
  }
}

export function readTypeName(part: Json | undefined): string {
  return readType(part) ?? 'unknown';
}

/** Whether a field is absent, null or empty. */
export function isEmptyField(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/**
 * Reads the fields that chunks of chat and of text completions have in common.
 * @param parts the builder that receives the id and the creation time of the answer
 * @returns the only choice of the chunk; if no worker can continue the answer, the reason as a text for the log
 */
export function readRelayedChoice(
  parts: RelayedAnswerBuilder,
  { id, created, choices }: JsonObject,
): JsonObject | string {
  if (typeof id === 'string') parts.id ||= id;
  if (typeof created === 'number') parts.created ??= created;
  const [choice, ...others] = Array.isArray(choices) ? choices : [];
  if (!isJsonObject(choice)) return 'a chunk has no choice';
  if (others.length > 0 || (choice['index'] ?? 0) !== 0) return 'there are several choices';
  if (!isEmptyField(choice['finish_reason'])) return 'the answer has ended';
  if (!isEmptyField(choice['logprobs'])) return 'there are log probabilities';
  return choice;
}

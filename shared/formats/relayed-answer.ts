import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** What the client has of a streamed answer that consists of the beginning of one text, so that it can be continued exactly. */
export interface RelayedAnswer {
  id: string;
  /** Seconds since 1970; undefined in a format whose answers do not tell. */
  created?: number | undefined;
  /** The text, in one piece for each event where the events are numbered, otherwise in any. */
  pieces: readonly string[];
  /** How many events tell it, where these are numbered. */
  events?: number | undefined;
  /** Input tokens, where the beginning of the answer reports them. */
  inputTokens?: number | undefined;
}

/** Reads the events of an answer's beginning. @returns why it cannot be continued, in words for the log, if it cannot */
export type ReadRelayed = (events: readonly JsonObject[]) => RelayedAnswer | string;

/** Collects what all events of an answer's beginning say. */
export class RelayedParts {
  id = '';
  created: number | undefined;
  inputTokens: number | undefined;
  readonly pieces: string[] = [];

  /** @param events how many there are, where they are numbered: otherwise the pieces become one */
  answer(events?: number): RelayedAnswer | string {
    const { id, created, inputTokens } = this;
    const text = this.pieces.join('');
    // The engine could not be told half a character.
    if (!text.isWellFormed()) return 'the text ends in the middle of a character';
    if (id === '') return 'the answer has no id yet';
    return { id, created, inputTokens, events, pieces: events === undefined ? [text] : this.pieces };
  }
}

/** The type of a part, for the log. */
export function typeOf(part: Json | undefined): string {
  const type = isJsonObject(part) ? part['type'] : undefined;
  return typeof type === 'string' ? type : 'unknown';
}

/** Whether a field says nothing: absent, null or empty. */
export function saysNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

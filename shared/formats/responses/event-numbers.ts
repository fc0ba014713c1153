import type { JsonObject } from '#shared/core/json.ts';
import { writeNamedEvent } from '../sse/encode.ts';

const key = '"sequence_number"';

/** The sequence number of an event, and its offsets in the event's text. `end` is exclusive. */
export interface EventNumber {
  start: number;
  end: number;
  value: number;
}

/**
 * Finds the sequence number of an event. The number is a field of the outermost object in the data. A field of the same name in an item or
 * a text does not count. Stops reading after the field.
 * @returns undefined for an event without a number
 */
export function findEventNumber(event: string): EventNumber | undefined {
  let at = event.indexOf('{');
  let depth = 0;
  while (at >= 0 && at < event.length) {
    switch (event.charAt(at)) {
      case '"': {
        if (depth === 1 && event.startsWith(key, at)) {
          const eventNumber = readNumberAt(event, at + key.length);
          if (eventNumber) return eventNumber;
        }
        at = findStringEnd(event, at);
        continue;
      }
      case '{':
      case '[':
        depth++;
        break;
      case '}':
      case ']':
        depth--;
        break;
    }
    at++;
  }
  return undefined;
}

function readNumberAt(text: string, from: number): EventNumber | undefined {
  const pattern = /\s*:\s*(\d+)/y;
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  const digits = match?.[1];
  if (digits === undefined) return undefined;
  return { start: pattern.lastIndex - digits.length, end: pattern.lastIndex, value: Number(digits) };
}

/** Returns the offset after the string that begins at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Writes the events of a response, and numbers them. */
export class ResponseEvents {
  #next: number;

  constructor(first = 0) {
    this.#next = first;
  }

  write(type: string, fields: JsonObject): string {
    return writeNamedEvent(type, JSON.stringify({ type, sequence_number: this.#next++, ...fields }));
  }

  /**
   * Writes an event from fields that are already JSON text. Used for the many deltas of an answer.
   * @param fields JSON text of an object, without its brackets
   */
  writeText(type: string, fields: string): string {
    return writeNamedEvent(type, `{"type":"${type}","sequence_number":${this.#next++},${fields}}`);
  }
}

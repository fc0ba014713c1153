import type { JsonObject } from '#shared/core/json.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';

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

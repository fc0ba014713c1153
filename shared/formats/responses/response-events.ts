import type { JsonObject } from '#shared/core/json.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';

export class ResponseEvents {
  #next: number;

  constructor(first = 0) {
    this.#next = first;
  }

  write(type: string, fields: JsonObject): string {
    return writeNamedEvent(type, JSON.stringify({ type, sequence_number: this.#next++, ...fields }));
  }
}

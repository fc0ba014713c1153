import type { JsonObject } from '#shared/core/json.ts';

export interface ItemEvents {
  id: string;
  /** Writes an event that carries the item itself. */
  item(type: 'response.output_item.added' | 'response.output_item.done', item: JsonObject): string;
  /** Writes an event about a part of the item. */
  write(type: string, fields: JsonObject): string;
}

export interface OpenItem {
  begin(): string;
  /**
   * Adds text to a message, to thinking, or to a call's arguments.
   * @param logprobs log probabilities of a message's text, if known
   */
  piece(text: string, logprobs?: readonly JsonObject[]): string;
  /**
   * Ends the item.
   * @param carried content of the item besides its text
   */
  close(status: 'completed' | 'incomplete', carried?: JsonObject): { events: string; item: JsonObject };
}

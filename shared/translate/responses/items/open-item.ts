import type { JsonObject } from '#shared/core/json.ts';

/** Writes the events of one output item. */
export interface ItemEvents {
  /** Id of the item. */
  id: string;
  /** An event that carries the item itself. */
  item(type: 'response.output_item.added' | 'response.output_item.done', item: JsonObject): string;
  /** An event about a part of the item. */
  write(type: string, fields: JsonObject): string;
}

/** The output item that is being written. */
export interface OpenItem {
  begin(): string;
  /** Adds text: of a message, of thinking, or of a call's arguments. `logprobs`: those of a message's text, if known. */
  piece(text: string, logprobs?: readonly JsonObject[]): string;
  /** Ends the item. `carried`: what belongs to the item beside its text, if anything. */
  close(status: 'completed' | 'incomplete', carried?: JsonObject): { events: string; item: JsonObject };
}

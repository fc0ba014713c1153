import type { JsonObject } from '#shared/core/json.ts';
import { writeReasoning } from '../sealed-thinking.ts';
import type { ItemEvents, OpenItem } from './open-item.ts';

export interface ReasoningOptions {
  /** Whether the summary of the item repeats the thinking. Upstreams that show their thinking do not summarize it. */
  summarizes: boolean;
  /** Seals the `encrypted_content`; undefined for an item without such content. */
  seal: ((text: string) => string) | undefined;
}

/** An item with thinking, as `reasoning_text`. If the upstream hides its thinking, the item has no text and no parts. */
export class ReasoningItem implements OpenItem {
  readonly #events: ItemEvents;
  readonly #options: ReasoningOptions;
  #text = '';
  #hasParts = false;

  constructor(events: ItemEvents, options: ReasoningOptions) {
    this.#events = events;
    this.#options = options;
  }

  begin(): string {
    return this.#events.writeItem('response.output_item.added', this.#toItem('in_progress', null));
  }

  addText(text: string): string {
    const begin = this.#hasParts ? '' : this.#beginParts();
    this.#hasParts = true;
    this.#text += text;
    const delta = `"delta":${JSON.stringify(text)}`;
    const events = begin + this.#events.writeText('response.reasoning_text.delta', `"content_index":0,${delta}`);
    if (!this.#options.summarizes) return events;
    return events + this.#events.writeText('response.reasoning_summary_text.delta', `"summary_index":0,${delta}`);
  }

  close(status: 'completed' | 'incomplete', sealed?: JsonObject): { events: string; item: JsonObject } {
    const reasoning = { text: this.#text, sealed };
    const item = this.#toItem(status, this.#options.seal?.(writeReasoning(reasoning)) ?? null);
    return { events: this.#endParts() + this.#events.writeItem('response.output_item.done', item), item };
  }

  #beginParts(): string {
    return (
      this.#write('response.content_part.added', { content_index: 0, part: { type: 'reasoning_text', text: '' } }) +
      this.#writeSummary('part.added', { part: { type: 'summary_text', text: '' } })
    );
  }

  #endParts(): string {
    if (!this.#hasParts) return '';
    const text = this.#text;
    return (
      this.#writeReasoning('text.done', { text }) +
      this.#write('response.content_part.done', { content_index: 0, part: { type: 'reasoning_text', text } }) +
      this.#writeSummary('text.done', { text }) +
      this.#writeSummary('part.done', { part: { type: 'summary_text', text } })
    );
  }

  #writeReasoning(event: string, fields: JsonObject): string {
    return this.#write(`response.reasoning_${event}`, { content_index: 0, ...fields });
  }

  #writeSummary(event: string, fields: JsonObject): string {
    if (!this.#options.summarizes) return '';
    return this.#write(`response.reasoning_summary_${event}`, { summary_index: 0, ...fields });
  }

  #write(type: string, fields: JsonObject): string {
    return this.#events.write(type, fields);
  }

  #toItem(status: string, encrypted: string | null): JsonObject {
    const text = this.#text;
    return {
      id: this.#events.id,
      type: 'reasoning',
      status,
      summary: this.#options.summarizes && this.#hasParts ? [{ type: 'summary_text', text }] : [],
      content: this.#hasParts ? [{ type: 'reasoning_text', text }] : [],
      encrypted_content: encrypted,
    };
  }
}

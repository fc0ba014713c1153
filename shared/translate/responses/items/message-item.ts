import type { JsonObject } from '#shared/core/json.ts';
import type { ItemEvents, OpenItem } from './open-item.ts';

/** A message with one content part: text, or a refusal. */
export class MessageItem implements OpenItem {
  readonly #events: ItemEvents;
  readonly #kind: 'text' | 'refusal';
  readonly #logprobs: JsonObject[] = [];
  #text = '';

  constructor(events: ItemEvents, kind: 'text' | 'refusal') {
    this.#events = events;
    this.#kind = kind;
  }

  begin(): string {
    return (
      this.#events.writeItem('response.output_item.added', this.#toItem('in_progress', [])) +
      this.#write('response.content_part.added', { part: this.#toPart() })
    );
  }

  addText(text: string, logprobs?: readonly JsonObject[]): string {
    this.#text += text;
    const delta = `"content_index":0,"delta":${JSON.stringify(text)}`;
    if (this.#kind === 'refusal') return this.#events.writeText('response.refusal.delta', delta);
    if (logprobs) this.#logprobs.push(...logprobs);
    const logprobsText = logprobs ? JSON.stringify(logprobs) : '[]';
    return this.#events.writeText('response.output_text.delta', `${delta},"logprobs":${logprobsText}`);
  }

  close(status: 'completed' | 'incomplete'): { events: string; item: JsonObject } {
    const item = this.#toItem(status, [this.#toPart()]);
    const done =
      this.#kind === 'refusal'
        ? this.#write('response.refusal.done', { refusal: this.#text })
        : this.#write('response.output_text.done', { text: this.#text, logprobs: this.#logprobs });
    const events =
      done +
      this.#write('response.content_part.done', { part: this.#toPart() }) +
      this.#events.writeItem('response.output_item.done', item);
    return { events, item };
  }

  #toItem(status: string, content: JsonObject[]): JsonObject {
    return { id: this.#events.id, type: 'message', status, role: 'assistant', content };
  }

  #toPart(): JsonObject {
    if (this.#kind === 'refusal') return { type: 'refusal', refusal: this.#text };
    return { type: 'output_text', text: this.#text, annotations: [], logprobs: this.#logprobs };
  }

  #write(type: string, fields: JsonObject): string {
    return this.#events.write(type, { content_index: 0, ...fields });
  }
}

import type { JsonObject } from '#shared/core/json.ts';
import type { ResponseEvents } from '#shared/formats/responses/event-numbers.ts';
import type { Block, BlockWriter } from '../blocks/block-queue.ts';
import type { RecalledRequest } from './recalled-request.ts';
import { CallItem } from './items/call-item.ts';
import { type OpenItem, type ItemEvents, WholeItem } from './items/open-item.ts';
import { MessageItem } from './items/message-item.ts';
import { ReasoningItem } from './items/reasoning-item.ts';

/** The kinds of blocks besides tool calls. An `item` arrives whole. */
export type ResponsesBlockKind = 'text' | 'refusal' | 'reasoning' | 'item';
type ResponsesBlock = Block<ResponsesBlockKind>;

export interface ResponsesWriterOptions {
  answerId: string;
  recalled: RecalledRequest;
  seal: ((text: string) => string) | undefined;
  events: ResponseEvents;
}

export class ResponsesBlockWriter implements BlockWriter<ResponsesBlockKind> {
  readonly #options: ResponsesWriterOptions;
  readonly #answerHex: string;
  readonly output: JsonObject[] = [];
  /** Content of blocks besides their text: the item of a block of kind `item`, or the value to seal in a reasoning block. */
  readonly carried = new Map<ResponsesBlock, JsonObject>();
  /** Log probabilities of text that is not written yet. */
  readonly #logprobs = new Map<ResponsesBlock, JsonObject[]>();
  closingStatus: 'completed' | 'incomplete' = 'completed';
  #openItem: OpenItem | undefined;

  constructor(options: ResponsesWriterOptions) {
    this.#options = options;
    this.#answerHex = options.answerId.replace(/^[a-z]+_/, '');
  }

  begin(block: ResponsesBlock): string {
    this.#openItem = this.#createItem(block);
    return this.#openItem.begin();
  }

  addText(block: ResponsesBlock, text: string): string {
    if (this.#logprobs.size === 0) return this.#openItem?.addText(text) ?? '';
    const logprobs = this.#logprobs.get(block);
    this.#logprobs.delete(block);
    return this.#openItem?.addText(text, logprobs) ?? '';
  }

  addLogprobs(block: ResponsesBlock, logprobs: readonly JsonObject[]): void {
    this.#logprobs.set(block, [...(this.#logprobs.get(block) ?? []), ...logprobs]);
  }

  close(block: ResponsesBlock): string {
    if (!this.#openItem) return '';
    const { events, item } = this.#openItem.close(this.closingStatus, this.carried.get(block));
    this.carried.delete(block);
    this.output.push(item);
    return events;
  }

  #createItem(block: ResponsesBlock): OpenItem {
    const { recalled, seal } = this.#options;
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return new MessageItem(this.#createEvents('msg'), block.kind);
      case 'reasoning':
        return new ReasoningItem(this.#createEvents('rs'), {
          summarizes: recalled.summarizes,
          seal: recalled.sealsReasoning ? seal : undefined,
        });
      case 'item':
        return new WholeItem(this.#createEvents('item'), this.carried.get(block) ?? {});
      case 'call': {
        const { id, name } = block.call ?? { id: '', name: '' };
        return new CallItem((prefix) => this.#createEvents(prefix), id, findTool(recalled, name ?? ''));
      }
    }
  }

  #createEvents(prefix: string): ItemEvents {
    const position = this.output.length;
    const id = `${prefix}_${this.#answerHex}_${position}`;
    const place = `"item_id":${JSON.stringify(id)},"output_index":${position}`;
    return {
      id,
      writeItem: (type, item) => this.#options.events.write(type, { output_index: position, item }),
      write: (type, fields) => this.#options.events.write(type, { item_id: id, output_index: position, ...fields }),
      writeText: (type, fields) => this.#options.events.writeText(type, `${place},${fields}`),
    };
  }
}

/**
 * Returns the client's tool with this flat name. A tool that the client did not offer counts as a function, because a model may call such a
 * tool.
 */
function findTool({ tools }: RecalledRequest, name: string): RecalledRequest['tools'][string] {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return tool ?? { type: 'function', name };
}

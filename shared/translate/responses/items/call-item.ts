import type { JsonObject } from '#shared/core/json.ts';
import { parseToolInput } from '../../vocabulary/tool-call.ts';
import type { CalledTool } from '../flatten-tools.ts';
import { InputUnwrapper } from '../input-unwrapper.ts';
import type { ItemEvents, OpenItem } from './open-item.ts';

/** A call of a client's tool, as the item type of that tool. */
export class CallItem implements OpenItem {
  readonly #events: ItemEvents;
  readonly #callId: string;
  readonly #tool: CalledTool;
  readonly #unwrapper = new InputUnwrapper();
  #text = '';

  /** @param createEvents creates the event writer of an item; the id of the item gets this prefix */
  constructor(createEvents: (prefix: string) => ItemEvents, callId: string, tool: CalledTool) {
    const prefixes = { function: 'fc', custom: 'ctc', tool_search: 'tsc' };
    this.#events = createEvents(prefixes[tool.type]);
    this.#callId = callId;
    this.#tool = tool;
  }

  begin(): string {
    return this.#events.writeItem('response.output_item.added', this.#toItem('in_progress', ''));
  }

  addText(text: string): string {
    switch (this.#tool.type) {
      case 'function':
        this.#text += text;
        return text === '' ? '' : this.#writeDelta('function_call_arguments', text);
      case 'custom': {
        const input = this.#unwrapper.addPiece(text);
        this.#text += input;
        return input === '' ? '' : this.#writeDelta('custom_tool_call_input', input);
      }
      case 'tool_search':
        this.#text += text;
        return '';
    }
  }

  close(status: 'completed' | 'incomplete'): { events: string; item: JsonObject } {
    const events = this.#writeEnd();
    const item = this.#toItem(status, this.#text);
    return { events: events + this.#events.writeItem('response.output_item.done', item), item };
  }

  #writeEnd(): string {
    switch (this.#tool.type) {
      case 'function':
        if (this.#text.trim() === '') this.#text = '{}';
        return this.#events.write('response.function_call_arguments.done', {
          name: this.#tool.name,
          arguments: this.#text,
        });
      case 'custom': {
        const input = this.#unwrapper.finish();
        const rest = input.slice(this.#text.length);
        this.#text = input;
        const delta = rest === '' ? '' : this.#writeDelta('custom_tool_call_input', rest);
        return delta + this.#events.write('response.custom_tool_call_input.done', { input });
      }
      case 'tool_search':
        return '';
    }
  }

  #writeDelta(event: string, delta: string): string {
    return this.#events.writeText(`response.${event}.delta`, `"delta":${JSON.stringify(delta)}`);
  }

  #toItem(status: string, text: string): JsonObject {
    const call = { id: this.#events.id, status, call_id: this.#callId };
    const { type, name, namespace } = this.#tool;
    const names = { name, ...(namespace !== undefined && { namespace }) };
    switch (type) {
      case 'function':
        return { ...call, type: 'function_call', ...names, arguments: text };
      case 'custom':
        return { ...call, type: 'custom_tool_call', ...names, input: text };
      case 'tool_search':
        return { ...call, type: 'tool_search_call', execution: 'client', arguments: parseToolInput(text) };
    }
  }
}

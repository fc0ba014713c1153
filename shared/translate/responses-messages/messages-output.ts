import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { readMessagesUsage } from '#shared/formats/messages/usage.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { toolArguments, toolInput } from '../vocabulary/tool-call.ts';
import { toFinishReason, readRefusalText } from '../vocabulary/stop-reason.ts';
import { findSealableFields } from './sealed-thinking.ts';
import { toWebSearchItem } from './web-search-tool.ts';

/** A thinking block or a call that is being received. `json`: the input so far of a call that the upstream runs. */
type OpenBlock =
  | { type: 'thinking'; signature: string }
  /** `input`: the input in the block's start, which counts if no pieces follow. */
  | { type: 'tool_use'; index: number; id: string; input: JsonObject; hasSentInput: boolean }
  | { type: 'server_tool_use'; block: JsonObject; json: string };

/**
 * Writes the blocks of a `messages` upstream's answer as items of a response. Omits citations, and the results of tools that run on the
 * upstream. Results are text ready to be sent.
 */
export class MessagesOutput {
  readonly #answerContext: AnswerContext;
  readonly #answer: ResponsesAnswerWriter;
  readonly #openBlocks = new Map<Json | undefined, OpenBlock>();
  #callCount = 0;
  #searchCount = 0;
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#answer = new ResponsesAnswerWriter(answerContext);
  }

  get hasContent(): boolean {
    return this.#answer.hasContent;
  }

  get response(): JsonObject {
    return this.#answer.response;
  }

  begin(): string {
    return this.#answer.begin();
  }

  /** Begins a block, which may have content already. */
  openBlock(index: Json | undefined, block: JsonObject): string {
    switch (block['type']) {
      case 'text':
        return this.#addText(textIn(block['text']));
      case 'thinking':
        this.#openBlocks.set(index, { type: 'thinking', signature: textIn(block['signature']) });
        // Thinking whose text the upstream does not show gets an item, too.
        return this.#addReasoning(textIn(block['thinking']));
      case 'redacted_thinking':
        return this.#sealThinking(block);
      case 'tool_use':
        return this.#beginCall(index, block);
      case 'server_tool_use':
        this.#openBlocks.set(index, { type: 'server_tool_use', block, json: '' });
        return '';
      default:
        return '';
    }
  }

  addDelta(index: Json | undefined, delta: JsonObject): string {
    const open = this.#openBlocks.get(index);
    switch (delta['type']) {
      case 'text_delta':
        return this.#addText(textIn(delta['text']));
      case 'thinking_delta':
        return this.#addReasoning(textIn(delta['thinking']));
      case 'signature_delta':
        if (open?.type === 'thinking') open.signature += textIn(delta['signature']);
        return '';
      case 'input_json_delta':
        if (open?.type === 'server_tool_use') open.json += textIn(delta['partial_json']);
        return open?.type === 'tool_use' ? this.#addArguments(open, textIn(delta['partial_json'])) : '';
      default:
        return '';
    }
  }

  closeBlock(index: Json | undefined): string {
    const open = this.#openBlocks.get(index);
    this.#openBlocks.delete(index);
    switch (open?.type) {
      case 'thinking':
        return this.#sealThinking(open);
      case 'tool_use':
        return open.hasSentInput ? '' : this.#addArguments(open, toolArguments(open.input));
      case 'server_tool_use':
        return this.#writeSearch(open);
      default:
        return '';
    }
  }

  /**
   * Ends the answer.
   * @param ended the upstream's fields `stop_reason` and `stop_details`
   */
  finish(ended: JsonObject, usage: Json | undefined): { text: string; ending: Ending } {
    const refusal = readRefusalText(ended) ?? '';
    this.#outputBytes += Buffer.byteLength(refusal);
    const refused = refusal === '' ? '' : this.#answer.addRefusal(refusal);
    const ending = {
      finishReason: toFinishReason(ended['stop_reason'], this.#callCount > 0),
      usage: fillUsage(readMessagesUsage(usage), {
        prompt: this.#answerContext.promptTokens,
        completion: () => estimateTokensOfBytes(this.#outputBytes),
      }),
    };
    return { text: refused + this.#answer.finish(ending), ending };
  }

  #addText(text: string): string {
    this.#outputBytes += Buffer.byteLength(text);
    return text === '' ? '' : this.#answer.addText(text);
  }

  #addReasoning(text: string): string {
    this.#outputBytes += Buffer.byteLength(text);
    return this.#answer.addReasoning(text);
  }

  #sealThinking(block: JsonObject): string {
    const carried = findSealableFields(block, this.#answerContext);
    if (carried) this.#answer.sealReasoning(carried);
    return '';
  }

  #writeSearch({ block, json }: OpenBlock & { type: 'server_tool_use' }): string {
    const id = this.#answerContext.id.replace(/^resp_|^/, `ws_${this.#searchCount++}_`);
    const item = toWebSearchItem(id, json === '' ? block : { ...block, input: toolInput(json) });
    return item ? this.#answer.addItem(item) : '';
  }

  #beginCall(index: Json | undefined, { id, name, input }: JsonObject): string {
    const place = { index: this.#callCount++, id: textIn(id) };
    this.#openBlocks.set(index, {
      type: 'tool_use',
      ...place,
      input: isJsonObject(input) ? input : {},
      hasSentInput: false,
    });
    this.#outputBytes += Buffer.byteLength(textIn(name));
    return this.#answer.addCall({ ...place, isFirst: true, name: textIn(name), arguments: '' });
  }

  #addArguments(call: OpenBlock & { type: 'tool_use' }, text: string): string {
    if (text === '') return '';
    call.hasSentInput = true;
    this.#outputBytes += Buffer.byteLength(text);
    const { index, id } = call;
    return this.#answer.addCall({ index, id, isFirst: false, name: undefined, arguments: text });
  }
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

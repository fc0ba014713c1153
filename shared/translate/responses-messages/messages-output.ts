import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { readMessagesUsage } from '#shared/formats/messages/usage.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { toolArguments, toolInput } from '../vocabulary/tool-call.ts';
import { finishReasonFor, refusalText } from '../vocabulary/stop-reason.ts';
import { sealableThinking } from './carried-thinking.ts';
import { webSearchItem } from './web-search-tool.ts';

/** A thinking block or a call that is being received. `json` is the input of a call so far. */
type OpenBlock =
  | { type: 'thinking'; signature: string }
  /** `input`: the input in the block's start, which is used if no pieces follow. */
  | { type: 'tool_use'; index: number; id: string; input: JsonObject; sent: boolean }
  | { type: 'server_tool_use'; block: JsonObject; json: string };

/**
 * Writes the blocks of a `messages` upstream's answer as items of a response. Omits citations, and the results of tools that run on the
 * upstream. Results are text ready to be sent.
 */
export class MessagesOutput {
  readonly #answerContext: AnswerContext;
  readonly #answer: ResponsesAnswerWriter;
  readonly #open = new Map<Json | undefined, OpenBlock>();
  #calls = 0;
  #searches = 0;
  #bytes = 0;

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
  open(index: Json | undefined, block: JsonObject): string {
    switch (block['type']) {
      case 'text':
        return this.#text(textIn(block['text']));
      case 'thinking':
        this.#open.set(index, { type: 'thinking', signature: textIn(block['signature']) });
        // Thinking that the model does not show gets an item too.
        return this.#reasoning(textIn(block['thinking']));
      case 'redacted_thinking':
        return this.#seal(block);
      case 'tool_use':
        return this.#call(index, block);
      case 'server_tool_use':
        this.#open.set(index, { type: 'server_tool_use', block, json: '' });
        return '';
      default:
        return '';
    }
  }

  add(index: Json | undefined, delta: JsonObject): string {
    const open = this.#open.get(index);
    switch (delta['type']) {
      case 'text_delta':
        return this.#text(textIn(delta['text']));
      case 'thinking_delta':
        return this.#reasoning(textIn(delta['thinking']));
      case 'signature_delta':
        if (open?.type === 'thinking') open.signature += textIn(delta['signature']);
        return '';
      case 'input_json_delta':
        if (open?.type === 'server_tool_use') open.json += textIn(delta['partial_json']);
        return open?.type === 'tool_use' ? this.#arguments(open, textIn(delta['partial_json'])) : '';
      default:
        return '';
    }
  }

  close(index: Json | undefined): string {
    const open = this.#open.get(index);
    this.#open.delete(index);
    switch (open?.type) {
      case 'thinking':
        return this.#seal(open);
      case 'tool_use':
        return open.sent ? '' : this.#arguments(open, toolArguments(open.input));
      case 'server_tool_use':
        return this.#searched(open);
      default:
        return '';
    }
  }

  /**
   * Ends the answer.
   * @param ended contains `stop_reason` and `stop_details`
   */
  finish(ended: JsonObject, usage: Json | undefined): { text: string; ending: Ending } {
    const refusal = refusalText(ended) ?? '';
    this.#bytes += Buffer.byteLength(refusal);
    const refused = refusal === '' ? '' : this.#answer.refusal(refusal);
    const ending = {
      finishReason: finishReasonFor(ended['stop_reason'], this.#calls > 0),
      usage: fillUsage(readMessagesUsage(usage), {
        prompt: this.#answerContext.promptTokens,
        completion: () => estimateTokensOfBytes(this.#bytes),
      }),
    };
    return { text: refused + this.#answer.finish(ending), ending };
  }

  #text(text: string): string {
    this.#bytes += Buffer.byteLength(text);
    return text === '' ? '' : this.#answer.text(text);
  }

  #reasoning(text: string): string {
    this.#bytes += Buffer.byteLength(text);
    return this.#answer.reasoning(text);
  }

  #seal(block: JsonObject): string {
    const carried = sealableThinking(block, this.#answerContext);
    if (carried) this.#answer.sealReasoning(carried);
    return '';
  }

  #searched({ block, json }: OpenBlock & { type: 'server_tool_use' }): string {
    const id = this.#answerContext.id.replace(/^resp_|^/, `ws_${this.#searches++}_`);
    const item = webSearchItem(id, json === '' ? block : { ...block, input: toolInput(json) });
    return item ? this.#answer.item(item) : '';
  }

  #call(index: Json | undefined, { id, name, input }: JsonObject): string {
    const place = { index: this.#calls++, id: textIn(id) };
    this.#open.set(index, { type: 'tool_use', ...place, input: isJsonObject(input) ? input : {}, sent: false });
    this.#bytes += Buffer.byteLength(textIn(name));
    return this.#answer.call({ ...place, first: true, name: textIn(name), arguments: '' });
  }

  #arguments(call: OpenBlock & { type: 'tool_use' }, text: string): string {
    if (text === '') return '';
    call.sent = true;
    this.#bytes += Buffer.byteLength(text);
    const { index, id } = call;
    return this.#answer.call({ index, id, first: false, name: undefined, arguments: text });
  }
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

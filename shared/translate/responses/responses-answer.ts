import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { ResponseEvents } from '#shared/formats/responses/response-events.ts';
import { responseObject, type ResponseState } from '#shared/formats/responses/response-object.ts';
import { writeResponsesUsage } from '#shared/formats/responses/usage.ts';
import { BlockQueue } from '../blocks/block-queue.ts';
import type { Ending, Minted } from '../translation.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-order.ts';
import { compactionItem } from './compaction.ts';
import { readRecalled } from './recall-request.ts';
import { type ResponsesBlockKind, ResponsesBlockWriter } from './responses-block-writer.ts';

/**
 * Writes one answer of the Responses format from the pieces that an upstream sends: as events, each of them complete, and as the
 * whole object. Items come one after the other; pieces of a later one wait until those before it are complete.
 */
export class ResponsesAnswer {
  readonly #minted: Minted;
  readonly #repeated: JsonObject;
  readonly #events = new ResponseEvents();
  readonly #writer: ResponsesBlockWriter;
  readonly #queue: BlockQueue<ResponsesBlockKind>;
  #hasContent = false;
  /** Whether reasoning items carry what only a later request of the owner can open. */
  readonly seals: boolean;
  #reasoningBytes = 0;
  /** The text so far, if it is to become one `compaction` item. */
  #summary: string | undefined;
  #last: JsonObject;

  constructor(minted: Minted) {
    const recalled = readRecalled(minted.recalled);
    this.#minted = minted;
    this.#repeated = recalled.repeated;
    this.seals = recalled.seals && minted.seal !== undefined;
    if (recalled.compacts) this.#summary = '';
    this.#writer = new ResponsesBlockWriter({
      answerId: minted.id,
      recalled,
      seal: minted.seal,
      events: this.#events,
    });
    this.#queue = new BlockQueue(this.#writer);
    this.#last = this.#object({ status: 'in_progress' });
  }

  /** Whether there is any output. */
  get hasContent(): boolean {
    return this.#hasContent;
  }

  /** The response object: complete after `finish`. */
  get response(): JsonObject {
    return this.#last;
  }

  /** The first two events. */
  begin(): string {
    const response = this.#last;
    return (
      this.#events.write('response.created', { response }) + this.#events.write('response.in_progress', { response })
    );
  }

  /** @param logprobs of its tokens, where the upstream gives them */
  text(delta: string, logprobs: readonly JsonObject[] = []): string {
    if (logprobs.length > 0 && this.#summary === undefined) {
      const last = this.#queue.last;
      this.#writer.addLogprobs(last?.kind === 'text' ? last : this.#queue.append('text'), logprobs);
    }
    return this.#text('text', delta);
  }

  refusal(delta: string): string {
    return this.#text('refusal', delta);
  }

  reasoning(delta: string): string {
    this.#reasoningBytes += Buffer.byteLength(delta);
    if (this.#summary !== undefined) return '';
    const last = this.#queue.last;
    // What is sealed ends its item.
    if (last?.kind === 'reasoning' && this.#writer.carried.has(last)) this.#queue.append('reasoning');
    return this.#text('reasoning', delta);
  }

  /**
   * Sets what the last reasoning item's `encrypted_content` carries beside its text, such as an upstream's signature; without an
   * open reasoning item, a new one carries it.
   */
  sealReasoning(value: JsonObject): void {
    if (this.#summary !== undefined) return;
    const last = this.#queue.last;
    const isOpen = last?.kind === 'reasoning' && !this.#writer.carried.has(last);
    this.#writer.carried.set(isOpen ? last : this.#queue.append('reasoning'), value);
    this.#hasContent = true;
  }

  /** @throws RouterError `upstream_failed` if the call cannot be written */
  call(piece: ToolCallPiece): string {
    if (this.#summary !== undefined) return '';
    this.#hasContent = true;
    return this.#queue.tool(piece);
  }

  /** Adds an item that is complete; it gets an id if it has none. */
  item(item: JsonObject): string {
    this.#hasContent = true;
    this.#writer.carried.set(this.#queue.append('item'), item);
    return this.#queue.advance();
  }

  /**
   * Closes all items and writes the last event.
   * @throws RouterError `upstream_failed` if a tool call has no name, or the summary that was asked for is missing
   */
  finish({ finishReason, usage }: Ending): string {
    const reason = incompleteReasons[finishReason];
    this.#writer.closingStatus = reason === undefined ? 'completed' : 'incomplete';
    const compaction = this.#summary === undefined ? '' : this.item(compactionItem(this.#minted, this.#summary));
    const items = compaction + this.#queue.finish();
    const status = reason === undefined ? 'completed' : 'incomplete';
    this.#last = this.#object({
      status,
      output: this.#writer.output,
      usage: writeResponsesUsage(this.#complete(usage)),
      incompleteReason: reason,
      completed: status === 'completed' ? (this.#minted.now?.() ?? this.#minted.created) : undefined,
    });
    return items + this.#events.write(`response.${status}`, { response: this.#last });
  }

  #text(kind: ResponsesBlockKind, text: string): string {
    this.#hasContent = true;
    if (this.#summary === undefined) return this.#queue.text(kind, text);
    this.#summary += text;
    return '';
  }

  /** Thinking has cost tokens, also if the upstream does not count them. */
  #complete(usage: Usage): Usage {
    if (this.#reasoningBytes === 0 || usage.reasoningTokens > 0) return usage;
    const estimated = Math.min(estimateTokensOfBytes(this.#reasoningBytes), usage.completionTokens);
    return { ...usage, reasoningTokens: Math.max(1, estimated) };
  }

  #object(state: Pick<ResponseState, 'status'> & Partial<ResponseState>): JsonObject {
    const { id, model, created } = this.#minted;
    return responseObject({ id, model, created, repeated: this.#repeated, ...state });
  }
}

/** Why a response is incomplete, by the chat format's finish reason. */
const incompleteReasons: Readonly<Record<string, ResponseState['incompleteReason']>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

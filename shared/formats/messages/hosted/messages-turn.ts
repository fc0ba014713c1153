import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, parseIfJson, toTextOrEmpty, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { writeNamedEvent } from '../../sse/encode.ts';
import { overlayUsage, readMessagesUsage } from '../usage.ts';
import type { SearchResult } from '../../hosted/hosted-outcome.ts';
import { directCaller } from './hosted-result-block.ts';
import { createResultCitations, toHostedCallId } from './result-citations.ts';

/** A call of a hosted tool, as the model wrote it. */
export interface TurnCall {
  /** The id that the client gets. */
  id: string;
  name: string;
  /** Empty if the arguments are not an object. */
  input: JsonObject;
}

interface OpenBlock {
  /** The block's index in the client's answer. */
  index: number;
  /** The block as the model wrote it. */
  block: JsonObject;
  /** The block as the client gets it: the same object as `block`, except for a call of a hosted tool. */
  clientBlock: JsonObject;
  /** The call's arguments so far, as JSON text. */
  json: string;
}

/** Bytes of memory of a piece of a text besides its characters. V8 joins the pieces only when the text is read. */
const pieceBytes = 64;

/**
 * One turn of the model in an answer with hosted tools. Converts the turn's events for the client and collects the turn's blocks and calls.
 * Calls of hosted tools become `server_tool_use` blocks. Every block gets its index in the whole answer.
 */
export class MessagesTurn {
  /** The blocks as the model wrote them, for the next request to the model. */
  readonly blocks: JsonObject[] = [];
  /** The blocks as the client gets them. */
  readonly clientBlocks: JsonObject[] = [];
  readonly calls: TurnCall[] = [];
  hasClientCalls = false;
  /** The message of `message_start`. */
  message: JsonObject | undefined;
  /** The last `message_delta` event. */
  delta: JsonObject = { type: 'message_delta', delta: { stop_reason: null, stop_sequence: null } };
  /** Bytes of the message and the blocks. */
  keptBytes = 0;
  readonly #firstIndex: number;
  readonly #searchResults: readonly SearchResult[];
  readonly #isHosted: (name: string) => boolean;
  readonly #openBlocks = new Map<number, OpenBlock>();
  #usage: JsonObject = {};

  /**
   * @param firstIndex index of the turn's first block in the answer
   * @param searchResults search results of earlier turns
   */
  constructor(firstIndex: number, isHosted: (name: string) => boolean, searchResults: readonly SearchResult[]) {
    this.#firstIndex = firstIndex;
    this.#searchResults = searchResults;
    this.#isHosted = isHosted;
  }

  get usage(): Usage {
    return readMessagesUsage(this.#usage);
  }

  get stopReason(): Json | undefined {
    return isJsonObject(this.delta['delta']) ? this.delta['delta']['stop_reason'] : undefined;
  }

  /** Reads an event and returns the text that the client gets for it. */
  relayEvent(event: JsonObject): string {
    switch (event['type']) {
      case 'message_start': {
        this.message = isJsonObject(event['message']) ? event['message'] : {};
        this.#usage = overlayUsage(this.#usage, this.message['usage']);
        const opening = writeEvent(event);
        this.keptBytes += opening.length;
        // Only the first turn begins the client's answer.
        return this.#firstIndex === 0 ? opening : '';
      }
      case 'content_block_start':
        return this.#startBlock(event);
      case 'content_block_delta':
        return this.#addDelta(event);
      case 'content_block_stop':
        return this.#stopBlock(event);
      case 'message_delta':
        this.delta = event;
        this.#usage = overlayUsage(this.#usage, event['usage']);
        return '';
      case 'message_stop':
        return '';
      default:
        return writeEvent(event);
    }
  }

  #startBlock(event: JsonObject): string {
    const block = isJsonObject(event['content_block']) ? { ...event['content_block'] } : {};
    const { type, name, id } = block;
    const isCall = type === 'tool_use' && typeof name === 'string' && typeof id === 'string';
    const isHosted = isCall && this.#isHosted(name);
    this.hasClientCalls ||= isCall && !isHosted;
    const clientBlock = isHosted
      ? { type: 'server_tool_use', id: toHostedCallId(id), name, input: {}, caller: directCaller }
      : block;
    const index = this.#firstIndex + this.clientBlocks.length;
    this.blocks.push(block);
    this.clientBlocks.push(clientBlock);
    this.#openBlocks.set(readIndex(event), { index, block, clientBlock, json: '' });
    const written = writeEvent({ ...event, index, content_block: clientBlock });
    this.keptBytes += written.length;
    return written;
  }

  #addDelta(event: JsonObject): string {
    const openBlock = this.#findOpenBlock(event);
    const { block } = openBlock;
    const delta = isJsonObject(event['delta']) ? event['delta'] : {};
    for (const field of ['text', 'thinking', 'signature'] as const) {
      const addition = delta[field];
      if (typeof addition !== 'string') continue;
      block[field] = `${toTextOrEmpty(block[field])}${addition}`;
      this.keptBytes += pieceBytes + addition.length;
    }
    const json = toTextOrEmpty(delta['partial_json']);
    openBlock.json += json;
    if (json !== '') this.keptBytes += pieceBytes + json.length;
    const written = writeEvent({ ...event, index: openBlock.index });
    if (delta['citation'] === undefined) return written;
    block['citations'] = [...(Array.isArray(block['citations']) ? block['citations'] : []), delta['citation']];
    this.keptBytes += written.length;
    return written;
  }

  #stopBlock(event: JsonObject): string {
    const { index, block, clientBlock, json } = this.#findOpenBlock(event);
    this.#openBlocks.delete(readIndex(event));
    if (block['type'] === 'text') return this.#writeCitations(index, block) + writeEvent({ ...event, index });
    if (block['type'] === 'tool_use') {
      const input = json === '' ? block['input'] : parseIfJson(json);
      block['input'] = isJsonObject(input) ? input : {};
      clientBlock['input'] = block['input'];
      if (clientBlock !== block)
        this.calls.push({
          id: toTextOrEmpty(clientBlock['id']),
          name: toTextOrEmpty(clientBlock['name']),
          input: block['input'],
        });
    }
    return writeEvent({ ...event, index });
  }

  /**
   * Writes the citations of a complete text, unless the upstream has added some. Adds them only to the client's block, not to the block for
   * the next request to the model.
   */
  #writeCitations(index: number, block: JsonObject): string {
    const { text, citations } = block;
    const newCitations =
      Array.isArray(citations) && citations.length > 0
        ? []
        : createResultCitations(toTextOrEmpty(text), this.#searchResults);
    if (newCitations.length === 0) return '';
    this.clientBlocks[index - this.#firstIndex] = { ...block, citations: newCitations };
    return newCitations
      .map((citation) =>
        writeEvent({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } }),
      )
      .join('');
  }

  #findOpenBlock(event: JsonObject): OpenBlock {
    const openBlock = this.#openBlocks.get(readIndex(event));
    if (!openBlock) throw new RouterError('upstream_failed', 'The answer continues a block that is not open.');
    return openBlock;
  }
}

export function writeEvent(event: JsonObject): string {
  return writeNamedEvent(toTextOrEmpty(event['type']), JSON.stringify(event));
}

function readIndex({ index }: JsonObject): number {
  return typeof index === 'number' ? index : -1;
}

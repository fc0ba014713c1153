import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { overlayUsage } from '#shared/formats/messages/usage.ts';
import { parseToolInput } from '../../vocabulary/tool-call.ts';

interface OpenBlock {
  block: JsonObject;
  /** The input of a tool so far, as JSON text. */
  input: string;
}

/** Builds the whole message from the events of its stream. */
export function assembleMessage(events: readonly JsonObject[]): JsonObject {
  let message: JsonObject = {};
  const blocks = new Map<Json | undefined, OpenBlock>();
  for (const { type, index, message: started, content_block: block, delta, usage, ...rest } of events) {
    switch (type) {
      case 'message_start':
        if (isJsonObject(started)) message = started;
        break;
      case 'content_block_start':
        if (isJsonObject(block)) blocks.set(index, { block, input: '' });
        break;
      case 'content_block_delta': {
        const open = blocks.get(index);
        if (open && isJsonObject(delta)) addDelta(open, delta);
        break;
      }
      case 'message_delta': {
        const usageBefore = isJsonObject(message['usage']) ? message['usage'] : {};
        message = { ...message, ...(isJsonObject(delta) && delta), ...rest, usage: overlayUsage(usageBefore, usage) };
        break;
      }
      default:
      // The ends of blocks and of the message add nothing.
    }
  }
  return { ...message, content: [...blocks.values()].map(completeBlock) };
}

function addDelta(open: OpenBlock, delta: JsonObject): void {
  const { block } = open;
  switch (delta['type']) {
    case 'input_json_delta':
      open.input += readText(delta['partial_json']);
      break;
    case 'citations_delta':
      open.block = { ...block, citations: [...toList(block['citations']), delta['citation'] ?? null] };
      break;
    default:
      for (const field of ['text', 'thinking', 'signature']) {
        const addedText = delta[field];
        if (typeof addedText === 'string')
          open.block = { ...open.block, [field]: readText(open.block[field]) + addedText };
      }
  }
}

function completeBlock({ block, input }: OpenBlock): JsonObject {
  return input === '' ? block : { ...block, input: parseToolInput(input) };
}

function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function toList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Piece } from '../../formats/conversation.ts';

/**
 * Reads the messages format's stream. Content blocks are numbered together there, tool calls among texts; here the calls
 * are numbered by themselves.
 */
export function createMessagesReader(): (data: string) => Piece[] {
  const calls = new Map<number, number>();
  return (data) => {
    const event: unknown = JSON.parse(data);
    if (!isJsonObject(event)) return [];
    const block = Number(event['index'] ?? 0);
    switch (event['type']) {
      case 'message_start':
        return readStart(objectOf(event['message']));
      case 'content_block_start': {
        const begun = objectOf(event['content_block']);
        if (begun['type'] !== 'tool_use') return [];
        calls.set(block, calls.size);
        return [
          { kind: 'tool', index: calls.size - 1, id: textOf(begun['id']), name: textOf(begun['name']), input: '' },
        ];
      }
      case 'content_block_delta':
        return readDelta(objectOf(event['delta']), calls.get(block) ?? 0);
      case 'message_delta':
        return readEnd(event);
      case 'error':
        return [{ kind: 'error', message: textOf(objectOf(event['error'])['message']) }];
      default:
        return [];
    }
  };
}

function readStart(message: JsonObject): Piece[] {
  return [{ kind: 'served', served: { model: textOf(message['model']), ...inputTokens(objectOf(message['usage'])) } }];
}

function readDelta(delta: JsonObject, call: number): Piece[] {
  switch (delta['type']) {
    case 'text_delta':
      return [{ kind: 'text', text: textOf(delta['text']) }];
    case 'thinking_delta':
      return [{ kind: 'thinking', text: textOf(delta['thinking']) }];
    case 'signature_delta':
      return [{ kind: 'signature', text: textOf(delta['signature']) }];
    case 'input_json_delta':
      return [{ kind: 'tool', index: call, input: textOf(delta['partial_json']) }];
    default:
      return [];
  }
}

function readEnd(event: JsonObject): Piece[] {
  const usage = objectOf(event['usage']);
  const served = {
    ...(typeof usage['input_tokens'] === 'number' ? inputTokens(usage) : {}),
    completionTokens: Number(usage['output_tokens'] ?? 0),
  };
  const reason = textOf(objectOf(event['delta'])['stop_reason']);
  return [{ kind: 'served', served }, ...(reason === '' ? [] : [{ kind: 'end' as const, finishReason: reason }])];
}

/** The format counts what was read from and written to a cache beside the other input. */
function inputTokens(usage: JsonObject): { promptTokens: number } {
  const parts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
  return { promptTokens: parts.reduce((sum, part) => sum + Number(usage[part] ?? 0), 0) };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { Piece } from '../../formats/conversation.ts';

/** What one event of the chat format's stream adds to the answer. */
export function readChatEvent(data: string): Piece[] {
  if (data === '[DONE]') return [];
  const chunk: unknown = JSON.parse(data);
  if (!isJsonObject(chunk)) return [];
  const pieces: Piece[] = [];
  if (isJsonObject(chunk['error'])) return [{ kind: 'error', message: textOf(chunk['error']['message']) }];
  const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
  if (isJsonObject(choice)) {
    if (isJsonObject(choice['delta'])) pieces.push(...readDelta(choice['delta']));
    if (typeof choice['finish_reason'] === 'string')
      pieces.push({ kind: 'end', finishReason: choice['finish_reason'] });
  }
  if (typeof chunk['model'] === 'string') pieces.push({ kind: 'served', served: { model: chunk['model'] } });
  const usage = chunk['usage'];
  if (isJsonObject(usage)) {
    const [promptTokens, completionTokens] = [Number(usage['prompt_tokens']), Number(usage['completion_tokens'])];
    pieces.push({ kind: 'served', served: { promptTokens, completionTokens } });
  }
  return pieces;
}

function readDelta(delta: Record<string, Json | undefined>): Piece[] {
  const pieces: Piece[] = [];
  const thinking = textOf(delta['reasoning_content'] ?? delta['reasoning']);
  if (thinking !== '') pieces.push({ kind: 'thinking', text: thinking });
  const text = textOf(delta['content']) || textOf(delta['refusal']);
  if (text !== '') pieces.push({ kind: 'text', text });
  const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
  for (const call of calls) {
    if (!isJsonObject(call)) continue;
    const named = isJsonObject(call['function']) ? call['function'] : {};
    pieces.push({
      kind: 'tool',
      index: Number(call['index'] ?? 0),
      id: textOf(call['id']) || undefined,
      name: textOf(named['name']) || undefined,
      input: textOf(named['arguments']),
    });
  }
  return pieces;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

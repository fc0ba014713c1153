import type { Json, JsonObject } from '#shared/core/json.ts';
import { reasoningOf } from './reasoning.ts';
import type { ToolCallPiece } from './tool-call-order.ts';

/**
 * All that a model wrote in a message or delta of the chat format: thinking, text, refusal, and of each tool call its name
 * and arguments. What an estimate of the answer's tokens goes by, streamed or not: the JSON around it was not written by
 * the model.
 */
export function writtenText(message: JsonObject, calls: readonly Pick<ToolCallPiece, 'name' | 'arguments'>[]): string {
  const { content, refusal } = message;
  const called = calls.map(({ name = '', arguments: text }) => `${name}${text}`);
  return [reasoningOf(message), textIn(content), textIn(refusal), ...called].join('');
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ToolCallPiece } from './tool-call-order.ts';

/**
 * The thinking text in a message or delta of the chat format. Engines spell the field in two ways: `reasoning_content`
 * (llama.cpp, SGLang, older vLLM) and `reasoning` (vLLM, Ollama). Where both are there, both say the same.
 */
export function reasoningOf(message: JsonObject): string {
  const { reasoning_content: content, reasoning } = message;
  if (typeof content === 'string' && content !== '') return content;
  return typeof reasoning === 'string' ? reasoning : '';
}

/**
 * Gives a message or delta the one spelling that chat clients get, in place: thinking in `reasoning_content`, and text as
 * one string. Mistral's thinking models send both as parts of the content.
 */
export function unifyReasoning(message: JsonObject): void {
  if (Array.isArray(message['content'])) joinParts(message, message['content']);
  if (typeof message['reasoning'] !== 'string') return;
  if (typeof message['reasoning_content'] !== 'string' || message['reasoning_content'] === '') {
    message['reasoning_content'] = message['reasoning'];
  }
  delete message['reasoning'];
}

function joinParts(message: JsonObject, parts: readonly Json[]): void {
  const thinking = textOf(parts, 'thinking');
  if (thinking !== '') message['reasoning_content'] = reasoningOf(message) + thinking;
  message['content'] = textOf(parts, 'text');
}

/** The text of all parts of one type. A thinking part's own text is in parts again. */
function textOf(parts: readonly Json[], type: 'text' | 'thinking'): string {
  let all = '';
  for (const part of parts) {
    if (!isJsonObject(part) || part['type'] !== type) continue;
    const text = part[type];
    if (typeof text === 'string') all += text;
    else if (Array.isArray(text)) all += textOf(text, 'text');
  }
  return all;
}

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

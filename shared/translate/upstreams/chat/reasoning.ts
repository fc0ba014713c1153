import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ToolCallPiece } from './tool-call-assembler.ts';

/** The field for the signature of the thinking in a message or delta. Only command-line agents send it, because engines sign nothing. */
export const reasoningSignatureField = 'reasoning_signature';

/**
 * Returns the thinking text in a message or delta of the chat format. Engines have two names for the field: `reasoning_content` (llama.cpp,
 * SGLang, older vLLM) and `reasoning` (vLLM, Ollama). If both are present, they are equal.
 */
export function readReasoningText(message: JsonObject): string {
  const { reasoning_content: content, reasoning } = message;
  if (typeof content === 'string' && content !== '') return content;
  return typeof reasoning === 'string' ? reasoning : '';
}

/**
 * Changes a message or delta in place: moves thinking to `reasoning_content`, and joins text to one string. Mistral's thinking models send
 * both as parts of the content.
 */
export function unifyReasoning(message: JsonObject): void {
  if (Array.isArray(message['content'])) unifyParts(message, message['content']);
  if (typeof message['reasoning'] !== 'string') return;
  if (typeof message['reasoning_content'] !== 'string' || message['reasoning_content'] === '') {
    message['reasoning_content'] = message['reasoning'];
  }
  delete message['reasoning'];
}

function unifyParts(message: JsonObject, parts: readonly Json[]): void {
  const thinking = joinPartTexts(parts, 'thinking');
  if (thinking !== '') message['reasoning_content'] = readReasoningText(message) + thinking;
  message['content'] = joinPartTexts(parts, 'text');
}

/** Joins the text of all content parts of one type. A thinking part contains parts itself. */
function joinPartTexts(parts: readonly Json[], type: 'text' | 'thinking'): string {
  let joined = '';
  for (const part of parts) {
    if (!isJsonObject(part) || part['type'] !== type) continue;
    const text = part[type];
    if (typeof text === 'string') joined += text;
    else if (Array.isArray(text)) joined += joinPartTexts(text, 'text');
  }
  return joined;
}

/**
 * Returns all text that a model wrote in a message or delta of the chat format: thinking, text, refusal, and the name and arguments of each
 * tool call. Estimates of output tokens count this text, not the JSON around it.
 */
export function joinWrittenText(
  message: JsonObject,
  calls: readonly Pick<ToolCallPiece, 'name' | 'arguments'>[],
): string {
  const { content, refusal } = message;
  const callTexts = calls.map(({ name = '', arguments: text }) => `${name}${text}`);
  return [readReasoningText(message), readText(content), readText(refusal), ...callTexts].join('');
}

function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

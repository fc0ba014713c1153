import type { JsonObject } from '#shared/core/json.ts';

/**
 * The thinking text in a message or delta of the chat family. Engines spell the field in two ways: `reasoning_content`
 * (llama.cpp, SGLang, older vLLM) and `reasoning` (vLLM, Ollama). Where both are there, both say the same.
 */
export function reasoningOf(message: JsonObject): string {
  const { reasoning_content: content, reasoning } = message;
  if (typeof content === 'string' && content !== '') return content;
  return typeof reasoning === 'string' ? reasoning : '';
}

/** Gives a message or delta the one spelling that chat clients get, in place. */
export function unifyReasoning(message: JsonObject): void {
  if (typeof message['reasoning'] !== 'string') return;
  if (typeof message['reasoning_content'] !== 'string' || message['reasoning_content'] === '') {
    message['reasoning_content'] = message['reasoning'];
  }
  delete message['reasoning'];
}

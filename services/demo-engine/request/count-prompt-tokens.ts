import { findImages, readText, type ChatMessage, type ChatTool } from './chat-request.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { RouterError } from '#shared/core/errors.ts';

/** Every image counts as this many tokens, independent of its size. */
export const tokensPerImage = 256;
/** Tokens of the marks around a message, as in OpenAI's chat format. */
const tokensPerMessage = 3;
/** Tokens that open the answer, as in OpenAI's chat format. */
const tokensOfOpening = 3;

/** Counts the tokens of a chat and its tools: `prompt_tokens` of the answer, and `count` of `/tokenize`. */
export async function countPromptTokens(
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[] | null | undefined,
  signal: AbortSignal,
): Promise<number> {
  let tokens = tokensOfOpening;
  if (tools?.length) tokens += await countTokens(JSON.stringify(tools), signal);
  for (const message of messages) {
    const calls = (message.tool_calls ?? []).flatMap(({ function: call }) => [call.name, call.arguments]);
    const reasoning = message.reasoning_content ?? message.reasoning ?? '';
    for (const text of [message.role, message.name ?? '', reasoning, readText(message), ...calls]) {
      if (text !== '') tokens += await countTokens(text, signal);
    }
    tokens += tokensPerMessage + tokensPerImage * findImages(message).length;
  }
  return tokens;
}

/**
 * Returns the token limit of an answer: the limit in the request or, without such a limit, the part of the context window after the prompt.
 * @throws RouterError `context_length_exceeded`, with vLLM's wording, when prompt and limit exceed the context window
 */
export function computeMaxTokens(
  requestedTokens: number | undefined,
  promptTokens: number,
  contextWindow: number,
): number {
  const room = contextWindow - promptTokens;
  if (room >= (requestedTokens ?? 1)) return requestedTokens ?? room;
  throw new RouterError(
    'context_length_exceeded',
    `This model's maximum context length is ${contextWindow} tokens. However, you requested ` +
      `${promptTokens + (requestedTokens ?? 0)} tokens (${promptTokens} in the messages, ${requestedTokens ?? 0} in the completion). ` +
      'Please reduce the length of the messages or completion.',
    { param: 'messages' },
  );
}

import { type ChatMessage, type ChatTool, findImages, readText } from './chat-request.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';

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

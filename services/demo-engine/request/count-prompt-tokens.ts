import { type ChatMessage, type ChatTool, findImages, readText } from './chat-request.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';

/** Number of tokens of an image, whatever its size. */
export const tokensPerImage = 256;
/** Number of tokens of the marks around a message, as OpenAI's chat format counts them. */
const tokensPerMessage = 3;
/** Number of tokens that open the answer, as OpenAI's chat format counts them. */
const tokensOfOpening = 3;

/** Counts the tokens of a chat with its tools, for `prompt_tokens` of its answer and for `count` of `/tokenize`. */
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

import type { ChatRequest } from './chat-request.ts';

/**
 * Whether the request asks for thinking, in any of the ways clients and engines have: `reasoning_effort` (OpenAI),
 * `chat_template_kwargs` (vLLM, SGLang), `thinking` (Anthropic). One way that says no outweighs another that says yes.
 */
export function wantsThinking(request: ChatRequest): boolean {
  const { reasoning_effort: effort, thinking, chat_template_kwargs: template } = request;
  const wishes = [
    effort === null || effort === undefined ? undefined : effort !== 'none',
    thinking ? thinking.type === 'enabled' || thinking.type === 'adaptive' : undefined,
    template?.enable_thinking ?? undefined,
    template?.thinking ?? undefined,
  ].filter((wish) => wish !== undefined);
  return wishes.length > 0 && wishes.every(Boolean);
}

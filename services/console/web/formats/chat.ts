import type { JsonObject } from '#shared/core/json.ts';
import type { Settings, Turn } from './conversation.ts';

/** The conversation as a request of the chat format (OpenAI API reference, "Create chat completion"). */
export function buildChatRequest(turns: readonly Turn[], settings: Settings): JsonObject {
  const { model, system, maxTokens, temperature, thinking, tools } = settings;
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...turns.flatMap(messagesOf)],
    ...(maxTokens === '' ? {} : { max_tokens: maxTokens }),
    ...(temperature === '' ? {} : { temperature }),
    ...(thinking ? { reasoning_effort: 'medium' } : {}),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: inputSchema },
          })),
        }),
  };
}

function messagesOf(turn: Turn): JsonObject[] {
  if (turn.role === 'user') {
    const { text, images } = turn;
    if (images.length === 0) return [{ role: 'user', content: text }];
    const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }));
    return [{ role: 'user', content: [...(text === '' ? [] : [{ type: 'text', text }]), ...parts] }];
  }
  const { text, toolCalls } = turn;
  const answered = toolCalls.filter(({ result }) => result !== undefined);
  if (text === '' && answered.length === 0) return [];
  if (answered.length === 0) return [{ role: 'assistant', content: text }];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      tool_calls: answered.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: input === '' ? '{}' : input },
      })),
    },
    ...answered.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result?.text ?? '' })),
  ];
}

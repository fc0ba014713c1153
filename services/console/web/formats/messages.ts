import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { AssistantTurn, Settings, Turn } from './conversation.ts';

/** The format needs a bound; this one leaves room for most answers. */
const defaultMaxTokens = 4_096;

/** The least that the format lets a model think. */
const thinkingTokens = 2_048;

/** The conversation as a request of the messages format (Anthropic API reference, "Create a message"). */
export function buildMessagesRequest(turns: readonly Turn[], settings: Settings): JsonObject {
  const { model, system, maxTokens, temperature, thinking, tools } = settings;
  const most = maxTokens === '' ? defaultMaxTokens : maxTokens;
  return {
    model,
    stream: true,
    // What is thought counts as output.
    max_tokens: thinking ? Math.max(most, thinkingTokens + 1) : most,
    ...(system.trim() === '' ? {} : { system }),
    messages: turns.flatMap(messagesOf),
    ...(temperature === '' || thinking ? {} : { temperature }),
    ...(thinking ? { thinking: { type: 'enabled', budget_tokens: thinkingTokens } } : {}),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
        }),
  };
}

function messagesOf(turn: Turn): JsonObject[] {
  if (turn.role === 'user') {
    const { text, images } = turn;
    if (images.length === 0) return [{ role: 'user', content: text }];
    return [{ role: 'user', content: [...images.map(imageBlock), ...textBlocks(text)] }];
  }
  const answered = turn.toolCalls.filter(({ result }) => result !== undefined);
  const content = [
    ...thinkingBlocks(turn),
    ...textBlocks(turn.text),
    ...answered.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: parseInput(input) })),
  ];
  if (content.length === 0) return [];
  const results = answered.map(({ id, result }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: result?.text ?? '',
    ...(result?.isError ? { is_error: true } : {}),
  }));
  return [{ role: 'assistant', content }, ...(results.length === 0 ? [] : [{ role: 'user', content: results }])];
}

/** Only thinking that carries a signature can be given back. */
function thinkingBlocks({ thinking, signature }: AssistantTurn): JsonObject[] {
  return signature === '' ? [] : [{ type: 'thinking', thinking, signature }];
}

/** The format refuses empty texts. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function imageBlock(url: string): JsonObject {
  const [, type = 'image/png', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: 'image', source: { type: 'base64', media_type: type, data } };
}

function parseInput(input: string): JsonObject {
  try {
    const value: unknown = JSON.parse(input === '' ? '{}' : input);
    return isJsonObject(value) ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

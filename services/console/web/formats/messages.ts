import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { AssistantTurn, Piece, Settings, Turn } from './conversation.ts';
import { shellWord } from './to-curl-command.ts';
import { objectOf, textOf } from './event-fields.ts';
import type { Snippet, WebFormat } from './web-format.ts';

/** The messages format: what Anthropic's SDKs and Claude Code send. */
export const messages: WebFormat = {
  name: 'messages',
  label: 'Anthropic',
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  buildRequest,
  openReader,
  snippets,
};

/** The limit of an answer if the person sets none. The format requires one, and this one leaves room for most answers. */
const defaultMaxTokens = 4_096;

/** A thinking budget above the format's minimum of 1,024 tokens. */
const thinkingTokens = 2_048;

/** Builds the request of a conversation in the messages format (Anthropic API reference, "Create a message"). */
function buildRequest(turns: readonly Turn[], settings: Settings): JsonObject {
  const { model, system, maxTokens, temperature, thinking, tools } = settings;
  const most = maxTokens === '' ? defaultMaxTokens : maxTokens;
  return {
    model,
    stream: true,
    // Thinking counts as output.
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

/** Returns the thinking of an answer. Only thinking that this format signed can be sent back. */
function thinkingBlocks({ thinking, signature, format }: AssistantTurn): JsonObject[] {
  return signature === '' || format !== messages.name ? [] : [{ type: 'thinking', thinking, signature }];
}

/** Returns a text as blocks. The format refuses empty texts. */
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

/**
 * Creates a reader of the messages format's stream. The format numbers all content blocks together; the reader numbers tool calls
 * separately.
 */
function openReader(): (data: string) => Piece[] {
  const calls = new Map<number, number>();
  return (data) => {
    const event: unknown = JSON.parse(data);
    if (!isJsonObject(event)) return [];
    const block = Number(event['index'] ?? 0);
    switch (event['type']) {
      case 'message_start':
        return readStart(objectOf(event['message']));
      case 'content_block_start': {
        const begun = objectOf(event['content_block']);
        if (begun['type'] !== 'tool_use') return [];
        calls.set(block, calls.size);
        return [
          { kind: 'tool', index: calls.size - 1, id: textOf(begun['id']), name: textOf(begun['name']), input: '' },
        ];
      }
      case 'content_block_delta':
        return readDelta(objectOf(event['delta']), calls.get(block) ?? 0);
      case 'message_delta':
        return readEnd(event);
      case 'error':
        return [{ kind: 'error', message: textOf(objectOf(event['error'])['message']) }];
      default:
        return [];
    }
  };
}

function readStart(message: JsonObject): Piece[] {
  return [{ kind: 'served', served: { model: textOf(message['model']), ...inputTokens(objectOf(message['usage'])) } }];
}

function readDelta(delta: JsonObject, call: number): Piece[] {
  switch (delta['type']) {
    case 'text_delta':
      return [{ kind: 'text', text: textOf(delta['text']) }];
    case 'thinking_delta':
      return [{ kind: 'thinking', text: textOf(delta['thinking']) }];
    case 'signature_delta':
      return [{ kind: 'signature', text: textOf(delta['signature']) }];
    case 'input_json_delta':
      return [{ kind: 'tool', index: call, input: textOf(delta['partial_json']) }];
    default:
      return [];
  }
}

function readEnd(event: JsonObject): Piece[] {
  const usage = objectOf(event['usage']);
  const counts = {
    ...(typeof usage['input_tokens'] === 'number' ? inputTokens(usage) : {}),
    completionTokens: Number(usage['output_tokens'] ?? 0),
  };
  const reason = textOf(objectOf(event['delta'])['stop_reason']);
  return [
    { kind: 'served', served: counts },
    ...(reason === '' ? [] : [{ kind: 'end' as const, isCut: reason === 'max_tokens' }]),
  ];
}

/** Adds up the input tokens. The format counts input that was read from or written to a cache separately. */
function inputTokens(usage: JsonObject): { promptTokens: number } {
  const parts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
  return { promptTokens: parts.reduce((sum, part) => sum + Number(usage[part] ?? 0), 0) };
}

function snippets(model: string, base: string): Snippet[] {
  const name = JSON.stringify(model);
  return [
    {
      id: 'anthropic-ts',
      name: 'Anthropic, TypeScript',
      about: 'Package @anthropic-ai/sdk.',
      code: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${base}', apiKey: process.env.RTR_KEY });
const message = await client.messages.create({
  model: ${name},
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(message.content);`,
    },
    {
      id: 'anthropic-py',
      name: 'Anthropic, Python',
      about: 'Package anthropic.',
      code: `import os
from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key=os.environ["RTR_KEY"])
message = client.messages.create(
    model=${name},
    max_tokens=1000,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(message.content[0].text)`,
    },
    {
      id: 'claude-code',
      name: 'Claude Code',
      about: 'For a shell; without --model it asks for the models that it knows itself.',
      code: `ANTHROPIC_BASE_URL=${shellWord(base)} ANTHROPIC_AUTH_TOKEN=$RTR_KEY claude --model ${shellWord(model)}`,
    },
  ];
}

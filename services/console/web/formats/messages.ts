import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import {
  type AssistantTurn,
  type Piece,
  type ConversationSettings,
  type Turn,
  readObject,
  readText,
} from './conversation.ts';
import { quoteForShell } from './to-curl-command.ts';
import type { Snippet, WebFormat } from './web-format.ts';

/** The messages format: what Anthropic's SDKs and Claude Code send. */
export const messages: WebFormat = {
  name: 'messages',
  label: 'Anthropic',
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  buildRequest,
  openReader,
  snippets: buildSnippets,
};

/** The maximum output tokens if the person sets no limit. The format requires a limit, and this limit leaves room for most answers. */
const defaultMaxTokens = 4_096;

/** A thinking budget above the format's minimum of 1,024 tokens. */
const thinkingTokens = 2_048;

/** Builds the request of a conversation in the messages format (Anthropic API reference, "Create a message"). */
function buildRequest(turns: readonly Turn[], settings: ConversationSettings): JsonObject {
  const { model, system, maxTokens, temperature, thinking, tools } = settings;
  const maxOutputTokens = maxTokens === '' ? defaultMaxTokens : maxTokens;
  return {
    model,
    stream: true,
    // Thinking counts as output.
    max_tokens: thinking ? Math.max(maxOutputTokens, thinkingTokens + 1) : maxOutputTokens,
    ...(system.trim() === '' ? {} : { system }),
    messages: turns.flatMap(toMessages),
    ...(temperature === '' || thinking ? {} : { temperature }),
    ...(thinking ? { thinking: { type: 'enabled', budget_tokens: thinkingTokens } } : {}),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
        }),
  };
}

function toMessages(turn: Turn): JsonObject[] {
  if (turn.role === 'user') {
    const { text, images } = turn;
    if (images.length === 0) return [{ role: 'user', content: text }];
    return [{ role: 'user', content: [...images.map(toImageBlock), ...toTextBlocks(text)] }];
  }
  const answeredCalls = turn.toolCalls.filter(({ result }) => result !== undefined);
  const content = [
    ...toThinkingBlocks(turn),
    ...toTextBlocks(turn.text),
    ...answeredCalls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: parseInput(input) })),
  ];
  if (content.length === 0) return [];
  const results = answeredCalls.map(({ id, result }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: result?.text ?? '',
    ...(result?.isError ? { is_error: true } : {}),
  }));
  return [{ role: 'assistant', content }, ...(results.length === 0 ? [] : [{ role: 'user', content: results }])];
}

/** Returns the thinking of an answer as a block if this format signed the thinking. Other thinking cannot be sent back. */
function toThinkingBlocks({ thinking, signature, format }: AssistantTurn): JsonObject[] {
  return signature === '' || format !== messages.name ? [] : [{ type: 'thinking', thinking, signature }];
}

/** Returns a text as a block. Returns no block for an empty text, which the format refuses. */
function toTextBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function toImageBlock(url: string): JsonObject {
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
  const callIndexes = new Map<number, number>();
  return (data) => {
    const event: unknown = JSON.parse(data);
    if (!isJsonObject(event)) return [];
    const blockIndex = Number(event['index'] ?? 0);
    switch (event['type']) {
      case 'message_start':
        return readStart(readObject(event['message']));
      case 'content_block_start': {
        const startedBlock = readObject(event['content_block']);
        if (startedBlock['type'] !== 'tool_use') return [];
        callIndexes.set(blockIndex, callIndexes.size);
        return [
          {
            kind: 'tool',
            index: callIndexes.size - 1,
            id: readText(startedBlock['id']),
            name: readText(startedBlock['name']),
            input: '',
          },
        ];
      }
      case 'content_block_delta':
        return readDelta(readObject(event['delta']), callIndexes.get(blockIndex) ?? 0);
      case 'message_delta':
        return readEnd(event);
      case 'error':
        return [{ kind: 'error', message: readText(readObject(event['error'])['message']) }];
      default:
        return [];
    }
  };
}

function readStart(message: JsonObject): Piece[] {
  return [
    {
      kind: 'served',
      served: { model: readText(message['model']), ...countInputTokens(readObject(message['usage'])) },
    },
  ];
}

function readDelta(delta: JsonObject, callIndex: number): Piece[] {
  switch (delta['type']) {
    case 'text_delta':
      return [{ kind: 'text', text: readText(delta['text']) }];
    case 'thinking_delta':
      return [{ kind: 'thinking', text: readText(delta['thinking']) }];
    case 'signature_delta':
      return [{ kind: 'signature', text: readText(delta['signature']) }];
    case 'input_json_delta':
      return [{ kind: 'tool', index: callIndex, input: readText(delta['partial_json']) }];
    default:
      return [];
  }
}

/** Reasons of an answer that its length ended. */
const cutReasons = new Set(['max_tokens', 'model_context_window_exceeded']);

function readEnd(event: JsonObject): Piece[] {
  const usage = readObject(event['usage']);
  const counts = {
    ...(typeof usage['input_tokens'] === 'number' ? countInputTokens(usage) : {}),
    completionTokens: Number(usage['output_tokens'] ?? 0),
  };
  const reason = readText(readObject(event['delta'])['stop_reason']);
  return [
    { kind: 'served', served: counts },
    ...(reason === '' ? [] : [{ kind: 'end' as const, isCut: cutReasons.has(reason) }]),
  ];
}

/** Adds up the input tokens. The format counts input that was read from or written to a cache separately. */
function countInputTokens(usage: JsonObject): { promptTokens: number } {
  const countNames = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
  return { promptTokens: countNames.reduce((sum, part) => sum + Number(usage[part] ?? 0), 0) };
}

function buildSnippets(model: string, base: string): Snippet[] {
  const name = JSON.stringify(model);
  return [
    {
      id: 'anthropic-ts',
      name: 'Anthropic, TypeScript',
      purpose: 'Package @anthropic-ai/sdk.',
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
      purpose: 'Package anthropic.',
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
      purpose: 'For a shell. Without --model, Claude Code asks for its own models.',
      code: `ANTHROPIC_BASE_URL=${quoteForShell(base)} ANTHROPIC_AUTH_TOKEN=$RTR_KEY claude --model ${quoteForShell(model)}`,
    },
  ];
}

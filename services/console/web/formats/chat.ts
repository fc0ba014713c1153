import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { type Piece, type ConversationSettings, type Turn, readText } from './conversation.ts';
import { quoteForShell } from './to-curl-command.ts';
import type { Snippet, WebFormat } from './web-format.ts';

/** The chat format: what OpenAI's SDKs and most other clients send. */
export const chat: WebFormat = {
  name: 'chat',
  label: 'OpenAI',
  path: '/chat/completions',
  headers: {},
  buildRequest,
  openReader: () => readEvent,
  batches: {
    filesPath: '/files',
    path: '/batches',
    buildCreation: ({ file, endpoint, hours }) => ({ input_file_id: file, endpoint, completion_window: `${hours}h` }),
  },
  snippets: buildSnippets,
};

/** Builds the request of a conversation in the chat format (OpenAI API reference, "Create chat completion"). */
function buildRequest(turns: readonly Turn[], settings: ConversationSettings): JsonObject {
  const { model, system, maxTokens, temperature, thinking, tools } = settings;
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...turns.flatMap(toMessages)],
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

function toMessages(turn: Turn): JsonObject[] {
  if (turn.role === 'user') {
    const { text, images } = turn;
    if (images.length === 0) return [{ role: 'user', content: text }];
    const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }));
    return [{ role: 'user', content: [...(text === '' ? [] : [{ type: 'text', text }]), ...parts] }];
  }
  const { text, toolCalls } = turn;
  const answeredCalls = toolCalls.filter(({ result }) => result !== undefined);
  if (text === '' && answeredCalls.length === 0) return [];
  if (answeredCalls.length === 0) return [{ role: 'assistant', content: text }];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      tool_calls: answeredCalls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: input === '' ? '{}' : input },
      })),
    },
    ...answeredCalls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result?.text ?? '' })),
  ];
}

function readEvent(data: string): Piece[] {
  if (data === '[DONE]') return [];
  const chunk: unknown = JSON.parse(data);
  if (!isJsonObject(chunk)) return [];
  const pieces: Piece[] = [];
  if (isJsonObject(chunk['error'])) return [{ kind: 'error', message: readText(chunk['error']['message']) }];
  const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
  if (isJsonObject(choice)) {
    if (isJsonObject(choice['delta'])) pieces.push(...readDelta(choice['delta']));
    const reason = choice['finish_reason'];
    if (typeof reason === 'string') pieces.push({ kind: 'end', isCut: reason === 'length' });
  }
  if (typeof chunk['model'] === 'string') pieces.push({ kind: 'served', served: { model: chunk['model'] } });
  const usage = chunk['usage'];
  if (isJsonObject(usage)) {
    const [promptTokens, completionTokens] = [Number(usage['prompt_tokens']), Number(usage['completion_tokens'])];
    pieces.push({ kind: 'served', served: { promptTokens, completionTokens } });
  }
  return pieces;
}

function readDelta(delta: JsonObject): Piece[] {
  const pieces: Piece[] = [];
  const thinking = readText(delta['reasoning_content'] ?? delta['reasoning']);
  if (thinking !== '') pieces.push({ kind: 'thinking', text: thinking });
  const text = readText(delta['content']) || readText(delta['refusal']);
  if (text !== '') pieces.push({ kind: 'text', text });
  const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
  for (const call of calls) {
    if (!isJsonObject(call)) continue;
    const calledFunction = isJsonObject(call['function']) ? call['function'] : {};
    pieces.push({
      kind: 'tool',
      index: Number(call['index'] ?? 0),
      id: readText(call['id']) || undefined,
      name: readText(calledFunction['name']) || undefined,
      input: readText(calledFunction['arguments']),
    });
  }
  return pieces;
}

function buildSnippets(model: string, base: string): Snippet[] {
  const name = JSON.stringify(model);
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] });
  return [
    {
      id: 'curl',
      name: 'curl',
      purpose: 'For a shell.',
      code: `curl ${quoteForShell(`${base}/chat/completions`)} \\
  -H "Authorization: Bearer $RTR_KEY" -H "Content-Type: application/json" \\
  -d ${quoteForShell(body)}`,
    },
    {
      id: 'openai-ts',
      name: 'OpenAI, TypeScript',
      purpose: 'Package openai.',
      code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${base}/v1', apiKey: process.env.RTR_KEY });
const stream = await client.chat.completions.create({
  model: ${name},
  stream: true,
  messages: [{ role: 'user', content: 'Hello!' }],
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
    },
    {
      id: 'openai-py',
      name: 'OpenAI, Python',
      purpose: 'Package openai.',
      code: `import os
from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key=os.environ["RTR_KEY"])
answer = client.chat.completions.create(model=${name}, messages=[{"role": "user", "content": "Hello!"}])
print(answer.choices[0].message.content)`,
    },
    {
      id: 'opencode',
      name: 'opencode',
      purpose: 'In opencode.json; the model is then called router/… there.',
      code: JSON.stringify(
        {
          $schema: 'https://opencode.ai/config.json',
          provider: {
            router: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Model Router',
              options: { baseURL: `${base}/v1`, apiKey: '{env:RTR_KEY}' },
              models: { [model]: { name: model } },
            },
          },
        },
        null,
        2,
      ),
    },
  ];
}

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

/** The Responses format: what Codex and OpenAI's agents send. */
export const responses: WebFormat = {
  name: 'responses',
  label: 'Responses',
  path: '/responses',
  headers: {},
  buildRequest,
  openReader,
  snippets: buildSnippets,
};

/**
 * Builds the request of a conversation in the Responses format (OpenAI API reference, "Create a model response"). The router does not store
 * the response.
 */
function buildRequest(turns: readonly Turn[], settings: ConversationSettings): JsonObject {
  const { model, system, maxTokens, temperature, thinking, tools } = settings;
  return {
    model,
    stream: true,
    store: false,
    ...(system.trim() === '' ? {} : { instructions: system }),
    input: turns.flatMap(toItems),
    ...(maxTokens === '' ? {} : { max_output_tokens: maxTokens }),
    ...(temperature === '' ? {} : { temperature }),
    ...(thinking ? { reasoning: { effort: 'medium', summary: 'auto' }, include: ['reasoning.encrypted_content'] } : {}),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            name,
            description,
            parameters: inputSchema,
          })),
        }),
  };
}

function toItems(turn: Turn): JsonObject[] {
  if (turn.role === 'user') {
    const { text, images } = turn;
    const content = [
      ...(text === '' ? [] : [{ type: 'input_text', text }]),
      ...images.map((url) => ({ type: 'input_image', image_url: url, detail: 'auto' })),
    ];
    return [{ type: 'message', role: 'user', content }];
  }
  const answeredCalls = turn.toolCalls.filter(({ result }) => result !== undefined);
  const { text } = turn;
  if (text === '' && answeredCalls.length === 0) return [];
  return [
    ...toReasoningItems(turn),
    ...(text === ''
      ? []
      : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }]),
    ...answeredCalls.map(({ id, name, input }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: input === '' ? '{}' : input,
    })),
    ...answeredCalls.map(({ id, result }) => ({
      type: 'function_call_output',
      call_id: id,
      output: result?.text ?? '',
    })),
  ];
}

/** Returns the thinking of an answer as items if this format sealed the thinking. Each line of the signature is one sealed part. */
function toReasoningItems({ signature, format }: AssistantTurn): JsonObject[] {
  if (format !== responses.name || signature === '') return [];
  return signature.split('\n').map((sealedPart) => ({ type: 'reasoning', summary: [], encrypted_content: sealedPart }));
}

/** Creates a reader of the Responses format's stream. The format numbers all items together; the reader numbers tool calls separately. */
function openReader(): (data: string) => Piece[] {
  const callIndexes = new Map<number, number>();
  let hasSealedPart = false;
  let hasThinking = false;
  return (data) => {
    const event: unknown = JSON.parse(data);
    if (!isJsonObject(event)) return [];
    const item = readObject(event['item']);
    const outputIndex = Number(event['output_index'] ?? 0);
    switch (event['type']) {
      case 'response.created':
        return readModel(readObject(event['response']));
      case 'response.output_item.added':
        if (item['type'] !== 'function_call') return [];
        callIndexes.set(outputIndex, callIndexes.size);
        return [
          { kind: 'tool', index: callIndexes.size - 1, id: readText(item['call_id']), name: readText(item['name']) },
        ];
      case 'response.function_call_arguments.delta':
        return [{ kind: 'tool', index: callIndexes.get(outputIndex) ?? 0, input: readText(event['delta']) }];
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return [{ kind: 'text', text: readText(event['delta']) }];
      case 'response.reasoning_summary_part.added':
        return hasThinking ? [{ kind: 'thinking', text: '\n\n' }] : [];
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        hasThinking = true;
        return [{ kind: 'thinking', text: readText(event['delta']) }];
      case 'response.output_item.done': {
        const sealedPart = item['type'] === 'reasoning' ? readText(item['encrypted_content']) : '';
        if (sealedPart === '') return [];
        const text = hasSealedPart ? `\n${sealedPart}` : sealedPart;
        hasSealedPart = true;
        return [{ kind: 'signature', text }];
      }
      case 'response.completed':
      case 'response.incomplete':
        return readEnd(readObject(event['response']));
      case 'response.failed':
        return [{ kind: 'error', message: readText(readObject(readObject(event['response'])['error'])['message']) }];
      case 'error':
        return [
          { kind: 'error', message: readText(event['message']) || readText(readObject(event['error'])['message']) },
        ];
      default:
        return [];
    }
  };
}

function readEnd(response: JsonObject): Piece[] {
  const usage = readObject(response['usage']);
  const [promptTokens, completionTokens] = [Number(usage['input_tokens']), Number(usage['output_tokens'])];
  const reason = readText(readObject(response['incomplete_details'])['reason']);
  return [
    ...readModel(response),
    ...(Number.isFinite(promptTokens + completionTokens)
      ? [{ kind: 'served' as const, served: { promptTokens, completionTokens } }]
      : []),
    { kind: 'end', isCut: reason === 'max_output_tokens' },
  ];
}

function readModel(response: JsonObject): Piece[] {
  const model = readText(response['model']);
  return model === '' ? [] : [{ kind: 'served', served: { model } }];
}

function buildSnippets(model: string, base: string): Snippet[] {
  const name = JSON.stringify(model);
  return [
    {
      id: 'responses-ts',
      name: 'Responses, TypeScript',
      purpose: 'Package openai.',
      code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${base}/v1', apiKey: process.env.RTR_KEY });
const response = await client.responses.create({ model: ${name}, input: 'Hello!', store: false });
console.log(response.output_text);`,
    },
    {
      id: 'codex',
      name: 'Codex',
      purpose: 'For a shell.',
      code: [
        'codex -c model_provider=router -c model_providers.router.name=router',
        `-c ${quoteForShell(`model_providers.router.base_url=${base}/v1`)} -c model_providers.router.env_key=RTR_KEY`,
        `-c model_providers.router.wire_api=responses --model ${quoteForShell(model)}`,
      ].join(' \\\n  '),
    },
  ];
}

import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { AssistantTurn, Piece, Settings, Turn } from './conversation.ts';
import { shellWord } from './to-curl-command.ts';
import { objectOf, textOf } from './event-fields.ts';
import type { Snippet, WebFormat } from './web-format.ts';

/** The Responses format: what Codex and OpenAI's agents send. */
export const responses: WebFormat = {
  name: 'responses',
  label: 'Responses',
  path: '/responses',
  headers: {},
  buildRequest,
  openReader,
  snippets,
};

/**
 * Builds the request of a conversation in the Responses format (OpenAI API reference, "Create a model response"). The request stores
 * nothing.
 */
function buildRequest(turns: readonly Turn[], settings: Settings): JsonObject {
  const { model, system, maxTokens, temperature, thinking, tools } = settings;
  return {
    model,
    stream: true,
    store: false,
    ...(system.trim() === '' ? {} : { instructions: system }),
    input: turns.flatMap(itemsOf),
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

function itemsOf(turn: Turn): JsonObject[] {
  if (turn.role === 'user') {
    const { text, images } = turn;
    const content = [
      ...(text === '' ? [] : [{ type: 'input_text', text }]),
      ...images.map((url) => ({ type: 'input_image', image_url: url, detail: 'auto' })),
    ];
    return [{ type: 'message', role: 'user', content }];
  }
  const answered = turn.toolCalls.filter(({ result }) => result !== undefined);
  const { text } = turn;
  if (text === '' && answered.length === 0) return [];
  return [
    ...reasoningItems(turn),
    ...(text === ''
      ? []
      : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }]),
    ...answered.map(({ id, name, input }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: input === '' ? '{}' : input,
    })),
    ...answered.map(({ id, result }) => ({
      type: 'function_call_output',
      call_id: id,
      output: result?.text ?? '',
    })),
  ];
}

/**
 * Returns the sealed thinking of an answer. Only thinking that this format sealed can be sent back; each line of the signature is one
 * sealed part.
 */
function reasoningItems({ signature, format }: AssistantTurn): JsonObject[] {
  if (format !== responses.name || signature === '') return [];
  return signature.split('\n').map((sealed) => ({ type: 'reasoning', summary: [], encrypted_content: sealed }));
}

/** Creates a reader of the Responses format's stream. The format numbers all items together; the reader numbers tool calls separately. */
function openReader(): (data: string) => Piece[] {
  const calls = new Map<number, number>();
  let hasSealed = false;
  let hasThinking = false;
  return (data) => {
    const event: unknown = JSON.parse(data);
    if (!isJsonObject(event)) return [];
    const item = objectOf(event['item']);
    const place = Number(event['output_index'] ?? 0);
    switch (event['type']) {
      case 'response.created':
        return modelOf(objectOf(event['response']));
      case 'response.output_item.added':
        if (item['type'] !== 'function_call') return [];
        calls.set(place, calls.size);
        return [{ kind: 'tool', index: calls.size - 1, id: textOf(item['call_id']), name: textOf(item['name']) }];
      case 'response.function_call_arguments.delta':
        return [{ kind: 'tool', index: calls.get(place) ?? 0, input: textOf(event['delta']) }];
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return [{ kind: 'text', text: textOf(event['delta']) }];
      case 'response.reasoning_summary_part.added':
        return hasThinking ? [{ kind: 'thinking', text: '\n\n' }] : [];
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        hasThinking = true;
        return [{ kind: 'thinking', text: textOf(event['delta']) }];
      case 'response.output_item.done': {
        const sealed = item['type'] === 'reasoning' ? textOf(item['encrypted_content']) : '';
        if (sealed === '') return [];
        const text = hasSealed ? `\n${sealed}` : sealed;
        hasSealed = true;
        return [{ kind: 'signature', text }];
      }
      case 'response.completed':
      case 'response.incomplete':
        return readEnd(objectOf(event['response']));
      case 'response.failed':
        return [{ kind: 'error', message: textOf(objectOf(objectOf(event['response'])['error'])['message']) }];
      case 'error':
        return [{ kind: 'error', message: textOf(event['message']) || textOf(objectOf(event['error'])['message']) }];
      default:
        return [];
    }
  };
}

function readEnd(response: JsonObject): Piece[] {
  const usage = objectOf(response['usage']);
  const [promptTokens, completionTokens] = [Number(usage['input_tokens']), Number(usage['output_tokens'])];
  const reason = textOf(objectOf(response['incomplete_details'])['reason']);
  return [
    ...modelOf(response),
    ...(Number.isFinite(promptTokens + completionTokens)
      ? [{ kind: 'served' as const, served: { promptTokens, completionTokens } }]
      : []),
    { kind: 'end', isCut: reason === 'max_output_tokens' },
  ];
}

function modelOf(response: JsonObject): Piece[] {
  const model = textOf(response['model']);
  return model === '' ? [] : [{ kind: 'served', served: { model } }];
}

function snippets(model: string, base: string): Snippet[] {
  const name = JSON.stringify(model);
  return [
    {
      id: 'responses-ts',
      name: 'Responses, TypeScript',
      about: 'Package openai.',
      code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${base}/v1', apiKey: process.env.RTR_KEY });
const response = await client.responses.create({ model: ${name}, input: 'Hello!', store: false });
console.log(response.output_text);`,
    },
    {
      id: 'codex',
      name: 'Codex',
      about: 'For a shell.',
      code: [
        'codex -c model_provider=router -c model_providers.router.name=router',
        `-c ${shellWord(`model_providers.router.base_url=${base}/v1`)} -c model_providers.router.env_key=RTR_KEY`,
        `-c model_providers.router.wire_api=responses --model ${shellWord(model)}`,
      ].join(' \\\n  '),
    },
  ];
}

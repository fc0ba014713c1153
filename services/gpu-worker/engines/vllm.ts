import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/upstream/upstream-http.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { EngineHttp } from '../engine-http.ts';
import { developerAsSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { takeThinkingRequest, templateThinking } from '../requests/thinking.ts';
import { describeModel } from './describe-model.ts';
import type { Engine, EngineContinuation } from './engine.ts';
import { modelList } from './model-list.ts';
import { probeOperations } from './probe-operations.ts';

const tokenized = z.looseObject({ count: z.number().int().nonnegative() });

/**
 * How vLLM and SGLang continue an answer. If a request has the fields that `continueLastMessage` adds, they continue its last message. Some
 * templates strip spaces from the end of that message.
 */
export const continuationByTokenizing: EngineContinuation = {
  trims: true,
  // Their own limit is 16 tokens.
  limitsCompletions: true,
  async countText(http, { model, text, isWhole }, signal) {
    const question = JSON.stringify({ model, prompt: text, add_special_tokens: isWhole });
    return parseAnswer('/tokenize', await http.post('/tokenize', question, signal), tokenized).count;
  },
};

/**
 * Number of jobs that a vLLM gets at once. It does not report how many it runs at once (`--max-num-seqs`, 256 or more by default). With
 * this number, the contexts of agents fit into the memory of one GPU, and the GPU is busy. Further jobs wait in the router's queues, by
 * class and weight.
 */
const defaultSlots = 64;

/**
 * vLLM, and the demo engine, which behaves like it. It reports neither its slots nor the operations of a model. Counting the tokens of an
 * image shows whether a model sees images, and empty requests show whether it embeds or ranks. Neither needs inference.
 */
export const vllm: Engine = {
  kind: 'vllm',
  switchesThinking: true,
  saltsCaches: true,
  healthPath: '/health',
  continuation: continuationByTokenizing,

  async discover(http, before) {
    const { data } = await http.getJson('/v1/models', modelList);
    const models = await Promise.all(
      data.map(async ({ id, max_model_len: contextWindow }): Promise<ModelInfo> => {
        const known = before.find((model) => model.id === id && model.contextWindow === contextWindow);
        if (known) return known;
        const [sees, operations] = await Promise.all([seesImages(http, id), probeOperations(http, id)]);
        const vision: Capability[] = sees ? ['vision'] : [];
        const continues: Capability[] = takesTemplateSettings(id) ? ['continue'] : [];
        const capabilities: Capability[] = ['stream', 'tools', ...vision, 'thinking', 'json', ...continues];
        return describeModel(id, operations, capabilities, contextWindow);
      }),
    );
    return { models, slots: data.some(({ owned_by: owner }) => owner === 'vllm') ? defaultSlots : undefined };
  },

  adapt(request, model) {
    const { rest, thinking } = takeThinkingRequest(request);
    let adapted = mapMessages(rest, (message) =>
      renameThinking(developerAsSystem(message), ['reasoning', 'reasoning_content']),
    );
    adapted = continueLastMessage(withoutUnusable(adapted));
    if (thinking === undefined) return adapted;
    if (thinking.effort !== undefined) adapted = { ...adapted, reasoning_effort: thinking.effort };
    return takesTemplateSettings(model.id) ? templateThinking(adapted, thinking.on) : adapted;
  },

  countTokens: countByTokenizing,
};

/** Removes fields that vLLM refuses: stream options of a request without a stream, and a choice of tools without tools. */
function withoutUnusable(request: JsonObject): JsonObject {
  const { stream_options: options, tools, tool_choice: choice, ...rest } = request;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  return {
    ...rest,
    ...(rest.stream === true && options !== undefined && { stream_options: options }),
    ...(hasTools && { tools }),
    ...(hasTools && choice !== undefined && { tool_choice: choice }),
  };
}

/** Whether vLLM accepts settings for the template. It refuses them for Mistral's models, which have their own tokenizer and no template. */
function takesTemplateSettings(model: string): boolean {
  return !/mistral|magistral|ministral|devstral|codestral|pixtral|mixtral/i.test(model);
}

/** One grey pixel as PNG. */
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

async function seesImages(http: EngineHttp, model: string): Promise<boolean> {
  const content = [{ type: 'image_url', image_url: { url: pixel } }];
  const { status } = await http.post('/tokenize', JSON.stringify({ model, messages: [{ role: 'user', content }] }));
  if (status >= 500) throw new UpstreamAnswerError(`the engine answered /tokenize with status ${status}`);
  return status === 200;
}

/**
 * Adds the fields without which vLLM and SGLang do not continue a last message by the assistant. If such a message has no tool calls, it is
 * the beginning of the answer. Values that the client has set stay.
 */
export function continueLastMessage(request: JsonObject): JsonObject {
  const last = Array.isArray(request.messages) ? request.messages.at(-1) : undefined;
  if (!isJsonObject(last) || last.role !== 'assistant' || last.tool_calls !== undefined) return request;
  return { continue_final_message: true, add_generation_prompt: false, ...request };
}

/** The fields of a chat request that determine its input tokens. `/tokenize` refuses or ignores the others. */
const counted = [
  'model',
  'messages',
  'tools',
  'chat_template_kwargs',
  'add_generation_prompt',
  'continue_final_message',
] as const;

/**
 * Counts tokens with `POST /tokenize` of vLLM and SGLang, which applies the model's template and tokenizer.
 * @throws UpstreamAnswerError if the engine does not count the request
 */
export async function countByTokenizing(http: EngineHttp, request: JsonObject, signal: AbortSignal): Promise<number> {
  const question = Object.fromEntries(counted.map((field) => [field, request[field]]));
  return parseAnswer('/tokenize', await http.post('/tokenize', JSON.stringify(question), signal), tokenized).count;
}

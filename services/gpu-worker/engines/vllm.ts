import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseAnswer } from '#shared/upstream/upstream-http.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-failure.ts';
import type { EngineHttp } from '../engine-http.ts';
import { changeDeveloperToSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { takeThinking, setTemplateThinking } from '../requests/thinking.ts';
import { describeModel, type Engine, type EngineContinuation, modelList } from './engine.ts';
import { probeOperations } from './probe-operations.ts';

const tokenizeAnswer = z.looseObject({ count: z.number().int().nonnegative() });

/**
 * How vLLM and SGLang continue an answer. With the fields that `continueLastMessage` adds, they continue the last message of a request.
 * Some templates strip spaces from the end of that message.
 */
export const continuationByTokenizing: EngineContinuation = {
  mayStripSpaces: true,
  // Without a limit in a completion request, they write at most 16 tokens.
  limitsCompletions: true,
  async countText(http, { model, text, isPrompt }, signal) {
    const body = JSON.stringify({ model, prompt: text, add_special_tokens: isPrompt });
    return parseAnswer('/tokenize', await http.post('/tokenize', body, signal), tokenizeAnswer).count;
  },
};

/**
 * Number of jobs that a vLLM engine gets at once. vLLM does not report how many jobs it runs at once (`--max-num-seqs`, 256 or more by
 * default). With this number, the contexts of agents fit into the memory of one GPU, and the GPU is busy. Further jobs wait in the router's
 * queues, by class and weight.
 */
const defaultSlots = 64;

/**
 * vLLM, and the demo engine, which behaves like vLLM. vLLM reports neither its slots nor the operations of a model. A token count of an
 * image shows whether a model accepts images. Empty requests show whether a model embeds or ranks. Neither check needs inference.
 */
export const vllm: Engine = {
  kind: 'vllm',
  switchesThinking: true,
  saltsCaches: true,
  healthPath: '/health',
  continuation: continuationByTokenizing,

  async discover(http, previousModels) {
    const { data } = await http.getJson('/v1/models', modelList);
    const models = await Promise.all(
      data.map(async ({ id, max_model_len: contextWindow }): Promise<ModelInfo> => {
        const knownModel = previousModels.find((model) => model.id === id && model.contextWindow === contextWindow);
        if (knownModel) return knownModel;
        const [canSeeImages, operations] = await Promise.all([acceptsImages(http, id), probeOperations(http, id)]);
        const vision: Capability[] = canSeeImages ? ['vision'] : [];
        const continues: Capability[] = acceptsTemplateSettings(id) ? ['continue'] : [];
        const capabilities: Capability[] = ['stream', 'tools', ...vision, 'thinking', 'json', ...continues];
        return describeModel(id, operations, capabilities, contextWindow);
      }),
    );
    return { models, slots: data.some(({ owned_by: owner }) => owner === 'vllm') ? defaultSlots : undefined };
  },

  adapt(request, model) {
    const { rest, thinking } = takeThinking(request);
    let adapted = mapMessages(rest, (message) =>
      renameThinking(changeDeveloperToSystem(message), ['reasoning', 'reasoning_content']),
    );
    adapted = continueLastMessage(removeUnusableFields(adapted));
    if (thinking === undefined) return adapted;
    if (thinking.effort !== undefined) adapted = { ...adapted, reasoning_effort: thinking.effort };
    return acceptsTemplateSettings(model.id) ? setTemplateThinking(adapted, thinking.isOn) : adapted;
  },

  countTokens: countByTokenizing,
};

/** Removes fields that vLLM refuses: stream options of a request without a stream, and a choice of tools without tools. */
function removeUnusableFields(request: JsonObject): JsonObject {
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
function acceptsTemplateSettings(model: string): boolean {
  return !/mistral|magistral|ministral|devstral|codestral|pixtral|mixtral/i.test(model);
}

/** One grey pixel as PNG. */
const greyPixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

async function acceptsImages(http: EngineHttp, model: string): Promise<boolean> {
  const content = [{ type: 'image_url', image_url: { url: greyPixel } }];
  const { status } = await http.post('/tokenize', JSON.stringify({ model, messages: [{ role: 'user', content }] }));
  if (status >= 500) throw new UpstreamAnswerError(`the engine answered /tokenize with status ${status}`);
  return status === 200;
}

/**
 * Adds the fields that make vLLM and SGLang continue the last message, if that is the assistant's and has no tool calls. The client's own
 * values of these fields stay.
 */
export function continueLastMessage(request: JsonObject): JsonObject {
  const last = Array.isArray(request.messages) ? request.messages.at(-1) : undefined;
  if (!isJsonObject(last) || last.role !== 'assistant' || last.tool_calls !== undefined) return request;
  return { continue_final_message: true, add_generation_prompt: false, ...request };
}

/** The fields of a chat request that determine its input tokens. `/tokenize` refuses or ignores the others. */
const countedFields = [
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
  const body = Object.fromEntries(countedFields.map((field) => [field, request[field]]));
  return parseAnswer('/tokenize', await http.post('/tokenize', JSON.stringify(body), signal), tokenizeAnswer).count;
}

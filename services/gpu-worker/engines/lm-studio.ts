import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { EngineHttp } from '../engine-http.ts';
import { developerAsSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { llamaCppFields } from '../requests/llama-cpp-fields.ts';
import { takeThinkingRequest } from '../requests/thinking.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { describeModel } from './describe-model.ts';
import type { Engine } from './engine.ts';
import { modelList } from './model-list.ts';

const positive = z.number().int().positive().optional().catch(undefined);

/** `GET /api/v1/models`, from version 0.4.0. */
const nativeModels = z.looseObject({
  models: z.array(
    z.looseObject({
      type: z.string(),
      key: z.string(),
      loaded_instances: z
        .array(
          z.looseObject({ id: z.string(), config: z.looseObject({ context_length: positive, parallel: positive }) }),
        )
        .catch([]),
      capabilities: z
        .looseObject({
          vision: z.boolean().optional(),
          trained_for_tool_use: z.boolean().optional(),
          reasoning: z.unknown().optional(),
        })
        .optional()
        .catch(undefined),
    }),
  ),
});

/** `GET /api/v0/models`, before 0.4.0. */
const olderModels = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      loaded_context_length: positive,
      capabilities: z.array(z.string()).optional().catch(undefined),
    }),
  ),
});

interface Facts extends Omit<ModelInfo, 'id' | 'operations'> {
  operations: readonly ModelOperation[];
  parallel?: number | undefined;
}

/**
 * LM Studio. `/v1/models` lists the models that a request may name. With loading on demand, these include models that are not loaded. The
 * native endpoints describe the models. As with Ollama, a model's context window is the one with which it is loaded.
 */
export const lmStudio: Engine = {
  kind: 'lm-studio',
  switchesThinking: true,
  makesOneChoice: true,
  healthPath: '/v1/models',

  async discover(http, before) {
    const [{ data }, facts] = await Promise.all([http.getJson('/v1/models', modelList), readFacts(http)]);
    const models: ModelInfo[] = [];
    const parallel: number[] = [];
    for (const { id } of data) {
      const fact = facts.get(id);
      const { operations = generation, capabilities = ['stream', 'tools', 'json'] } = fact ?? {};
      if (operations.length === 0) continue;
      const contextWindow = fact?.contextWindow ?? before.find((model) => model.id === id)?.contextWindow;
      models.push(describeModel(id, operations, capabilities, contextWindow));
      if (fact?.parallel !== undefined) parallel.push(fact.parallel);
    }
    return { models, slots: parallel.length > 0 ? Math.max(...parallel) : undefined };
  },

  adapt(request, model) {
    const { rest, thinking } = takeThinkingRequest(request);
    const adapted = mapMessages(withSchema(llamaCppFields(rest)), (message) =>
      renameThinking(developerAsSystem(message), ['reasoning_content']),
    );
    if (thinking === undefined || !model.capabilities.includes('thinking')) return adapted;
    return { ...adapted, reasoning_effort: thinking.on ? (thinking.effort ?? 'medium') : 'none' };
  },
};

/** Reads the descriptions from the native endpoints, by the ids that `/v1/models` may list: those of models and of their instances. */
async function readFacts(http: EngineHttp): Promise<Map<string, Facts>> {
  const native = await http.getOptionalJson('/api/v1/models', nativeModels);
  if (native === undefined) {
    const older = await http.getOptionalJson('/api/v0/models', olderModels);
    return new Map(older?.data.map((model) => [model.id, factsOfOlder(model)]));
  }
  const facts = new Map<string, Facts>();
  for (const { key, type, loaded_instances: instances, capabilities: can } of native.models) {
    const capabilities: Capability[] = ['stream', 'json'];
    if (can?.trained_for_tool_use === true) capabilities.push('tools');
    if (can?.vision === true) capabilities.push('vision');
    if (can?.reasoning !== undefined) capabilities.push('thinking');
    const common = { operations: operationsOf(type), capabilities };
    facts.set(key, common);
    for (const { id, config } of instances) {
      facts.set(id, { ...common, contextWindow: config.context_length, parallel: config.parallel });
    }
  }
  return facts;
}

function factsOfOlder(model: z.output<typeof olderModels>['data'][number]): Facts {
  const capabilities: Capability[] = ['stream', 'json'];
  if (model.capabilities === undefined || model.capabilities.includes('tool_use')) capabilities.push('tools');
  if (model.type === 'vlm') capabilities.push('vision');
  return { operations: operationsOf(model.type), capabilities, contextWindow: model.loaded_context_length };
}

const generation: readonly ModelOperation[] = ['generate', 'complete'];

/** Maps the type of a model to its operations: `llm`, `vlm`, and `embedding`, which has an `s` in older versions. */
function operationsOf(type: string): readonly ModelOperation[] {
  if (type.startsWith('embedding')) return ['embed'];
  return type === 'llm' || type === 'vlm' ? generation : [];
}

/** Replaces the format `json_object` by a schema that any object matches, because LM Studio supports only `json_schema` and `text`. */
function withSchema(request: JsonObject): JsonObject {
  const format = request.response_format;
  if (!isJsonObject(format) || format.type !== 'json_object') return request;
  return {
    ...request,
    response_format: { type: 'json_schema', json_schema: { name: 'object', schema: { type: 'object' } } },
  };
}

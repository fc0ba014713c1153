import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { EngineHttp } from '../engine-http.ts';
import { changeDeveloperToSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { toLlamaCppFields } from '../requests/llama-cpp-fields.ts';
import { takeThinking } from '../requests/thinking.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { describeModel, type Engine, modelList } from './engine.ts';

const positiveInteger = z.number().int().positive().optional().catch(undefined);

/** `GET /api/v1/models`, from version 0.4.0. */
const nativeModels = z.looseObject({
  models: z.array(
    z.looseObject({
      type: z.string(),
      key: z.string(),
      loaded_instances: z
        .array(
          z.looseObject({
            id: z.string(),
            config: z.looseObject({ context_length: positiveInteger, parallel: positiveInteger }),
          }),
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

/** `GET /api/v0/models`, before version 0.4.0. */
const olderModels = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      loaded_context_length: positiveInteger,
      capabilities: z.array(z.string()).optional().catch(undefined),
    }),
  ),
});

interface ModelFacts extends Omit<ModelInfo, 'id' | 'operations'> {
  operations: readonly ModelOperation[];
  parallel?: number | undefined;
}

/**
 * LM Studio. `/v1/models` lists the models that a request may name. With loading on demand, this includes models that are not loaded. The
 * native endpoints describe the models. As with Ollama, a model's context window is the one with which the model is loaded.
 */
export const lmStudio: Engine = {
  kind: 'lm-studio',
  switchesThinking: true,
  makesOneChoice: true,
  healthPath: '/v1/models',

  async discover(http, previousModels) {
    const [{ data }, facts] = await Promise.all([http.getJson('/v1/models', modelList), readFacts(http)]);
    const models: ModelInfo[] = [];
    const parallelCounts: number[] = [];
    for (const { id } of data) {
      const modelFacts = facts.get(id);
      const { operations = generationOperations, capabilities = ['stream', 'tools', 'json'] } = modelFacts ?? {};
      if (operations.length === 0) continue;
      const contextWindow = modelFacts?.contextWindow ?? previousModels.find((model) => model.id === id)?.contextWindow;
      models.push(describeModel(id, operations, capabilities, contextWindow));
      if (modelFacts?.parallel !== undefined) parallelCounts.push(modelFacts.parallel);
    }
    return { models, slots: parallelCounts.length > 0 ? Math.max(...parallelCounts) : undefined };
  },

  adapt(request, model) {
    const { rest, thinking } = takeThinking(request);
    const adapted = mapMessages(replaceJsonObjectFormat(toLlamaCppFields(rest)), (message) =>
      renameThinking(changeDeveloperToSystem(message), ['reasoning_content']),
    );
    if (thinking === undefined || !model.capabilities.includes('thinking')) return adapted;
    return { ...adapted, reasoning_effort: thinking.isOn ? (thinking.effort ?? 'medium') : 'none' };
  },
};

/** Reads the native endpoints. Returns facts by the ids that `/v1/models` may list: ids of models and of their loaded instances. */
async function readFacts(http: EngineHttp): Promise<Map<string, ModelFacts>> {
  const native = await http.getOptionalJson('/api/v1/models', nativeModels);
  if (native === undefined) {
    const older = await http.getOptionalJson('/api/v0/models', olderModels);
    return new Map(older?.data.map((model) => [model.id, readOlderFacts(model)]));
  }
  const facts = new Map<string, ModelFacts>();
  for (const { key, type, loaded_instances: instances, capabilities: abilities } of native.models) {
    const capabilities: Capability[] = ['stream', 'json'];
    if (abilities?.trained_for_tool_use === true) capabilities.push('tools');
    if (abilities?.vision === true) capabilities.push('vision');
    if (abilities?.reasoning !== undefined) capabilities.push('thinking');
    const commonFacts = { operations: toOperations(type), capabilities };
    facts.set(key, commonFacts);
    for (const { id, config } of instances) {
      facts.set(id, { ...commonFacts, contextWindow: config.context_length, parallel: config.parallel });
    }
  }
  return facts;
}

function readOlderFacts(model: z.output<typeof olderModels>['data'][number]): ModelFacts {
  const capabilities: Capability[] = ['stream', 'json'];
  if (model.capabilities === undefined || model.capabilities.includes('tool_use')) capabilities.push('tools');
  if (model.type === 'vlm') capabilities.push('vision');
  return { operations: toOperations(model.type), capabilities, contextWindow: model.loaded_context_length };
}

const generationOperations: readonly ModelOperation[] = ['generate', 'complete'];

/** Maps the type of a model to its operations: `llm`, `vlm`, and `embedding`, which has an `s` in older versions. */
function toOperations(type: string): readonly ModelOperation[] {
  if (type.startsWith('embedding')) return ['embed'];
  return type === 'llm' || type === 'vlm' ? generationOperations : [];
}

/** Replaces the format `json_object` by a schema that any object matches, because LM Studio supports only `json_schema` and `text`. */
function replaceJsonObjectFormat(request: JsonObject): JsonObject {
  const format = request.response_format;
  if (!isJsonObject(format) || format.type !== 'json_object') return request;
  return {
    ...request,
    response_format: { type: 'json_schema', json_schema: { name: 'object', schema: { type: 'object' } } },
  };
}

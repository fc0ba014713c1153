import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { EngineHttp } from '../engine-http.ts';
import { changeDeveloperToSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { toLlamaCppFields } from '../requests/llama-cpp-fields.ts';
import { takeThinking } from '../requests/thinking.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { describeModel, type Engine, modelList } from './engine.ts';

/** `POST /api/show`. */
const showAnswer = z.looseObject({
  capabilities: z.array(z.string()).optional().catch(undefined),
  /** The model file's parameters, one per line. */
  parameters: z.string().optional().catch(undefined),
});

/** `GET /api/ps`: the models in memory. Newer versions add the context window with which each model is loaded. */
const runningModels = z.looseObject({
  models: z
    .array(z.looseObject({ name: z.string(), context_length: z.number().int().positive().optional().catch(undefined) }))
    .nullable()
    .transform((models) => models ?? []),
});

/**
 * Ollama. A model's context window is the window with which the model is loaded, not the window with which it was trained, because Ollama
 * silently truncates longer input. The worker learns the window while the model is loaded, and remembers it afterwards.
 */
export const ollama: Engine = {
  kind: 'ollama',
  switchesThinking: true,
  makesOneChoice: true,
  healthPath: '/api/version',

  async discover(http, previousModels) {
    const [{ data }, runningList] = await Promise.all([
      http.getJson('/v1/models', modelList),
      http.getOptionalJson('/api/ps', runningModels),
    ]);
    const contextWindows = new Map(previousModels.map((model) => [model.id, model.contextWindow]));
    for (const { name, context_length: tokens } of runningList?.models ?? [])
      if (tokens) contextWindows.set(name, tokens);
    const models = await Promise.all(data.map(({ id }) => describeOllamaModel(http, id, contextWindows.get(id))));
    return { models: models.filter((model) => model !== undefined) };
  },

  adapt(request, model) {
    const { rest, thinking } = takeThinking(request);
    const adapted = mapMessages(removeToolsIfNoneChosen(toLlamaCppFields(rest)), (message) =>
      renameThinking(joinTexts(changeDeveloperToSystem(message)), ['reasoning']),
    );
    // Ollama refuses the field for a model that cannot think.
    if (thinking === undefined || !model.capabilities.includes('thinking')) return adapted;
    return { ...adapted, reasoning_effort: thinking.isOn ? (thinking.effort ?? 'medium') : 'none' };
  },
};

/** Describes a model. Returns undefined for a model that neither generates text nor embeds, such as a model that makes images. */
async function describeOllamaModel(
  http: EngineHttp,
  id: string,
  contextWindow: number | undefined,
): Promise<ModelInfo | undefined> {
  const { status, body } = await http.post('/api/show', JSON.stringify({ model: id }));
  const facts = status === 200 ? showAnswer.safeParse(body).data : undefined;
  const listedCapabilities = facts?.capabilities;
  const operations = toOperations(listedCapabilities);
  if (operations.length === 0) return undefined;
  const capabilities: Capability[] = ['stream', 'json'];
  // Versions before 0.6.4 list no capabilities. Their models may support tools.
  if (listedCapabilities === undefined || listedCapabilities.includes('tools')) capabilities.push('tools');
  if (listedCapabilities?.includes('vision')) capabilities.push('vision');
  if (listedCapabilities?.includes('thinking')) capabilities.push('thinking');
  return describeModel(id, operations, capabilities, contextWindow ?? readConfiguredContext(facts?.parameters));
}

/** @param listedCapabilities the model's capabilities; undefined in versions that list none */
function toOperations(listedCapabilities: readonly string[] | undefined): ModelOperation[] {
  if (!listedCapabilities) return ['generate', 'complete'];
  return [
    ...(listedCapabilities.includes('completion') ? (['generate', 'complete'] as const) : []),
    ...(listedCapabilities.includes('embedding') ? (['embed'] as const) : []),
  ];
}

function readConfiguredContext(parameters = ''): number | undefined {
  const tokens = /^num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1];
  return tokens === undefined ? undefined : Number(tokens);
}

/** Removes the tools if `tool_choice` is `none`, because Ollama ignores that choice. */
function removeToolsIfNoneChosen(request: JsonObject): JsonObject {
  if (request.tool_choice !== 'none') return request;
  const { tools: _tools, tool_choice: _choice, ...rest } = request;
  return rest;
}

/** Joins content into one string if it consists only of text parts. */
function joinTexts(message: JsonObject): JsonObject {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const texts: string[] = [];
  for (const part of content) {
    if (!isJsonObject(part) || part.type !== 'text' || typeof part.text !== 'string') return message;
    texts.push(part.text);
  }
  return { ...message, content: texts.join('\n') };
}

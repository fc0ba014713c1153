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

/** `POST /api/show`. */
const shown = z.looseObject({
  capabilities: z.array(z.string()).optional().catch(undefined),
  /** The model file's parameters, one per line. */
  parameters: z.string().optional().catch(undefined),
});

/** `GET /api/ps`: the models in memory. Newer versions add the context with which each is loaded. */
const loaded = z.looseObject({
  models: z
    .array(z.looseObject({ name: z.string(), context_length: z.number().int().positive().optional().catch(undefined) }))
    .nullable()
    .transform((models) => models ?? []),
});

/**
 * Ollama. A model's context window is the one with which it is loaded, not the one with which it was trained, because Ollama silently
 * truncates longer input. The window is known while the model is loaded, and remembered afterwards.
 */
export const ollama: Engine = {
  kind: 'ollama',
  switchesThinking: true,
  makesOneChoice: true,
  healthPath: '/api/version',

  async discover(http, before) {
    const [{ data }, running] = await Promise.all([
      http.getJson('/v1/models', modelList),
      http.getOptionalJson('/api/ps', loaded),
    ]);
    const contexts = new Map(before.map((model) => [model.id, model.contextWindow]));
    for (const { name, context_length: tokens } of running?.models ?? []) if (tokens) contexts.set(name, tokens);
    const models = await Promise.all(data.map(({ id }) => describe(http, id, contexts.get(id))));
    return { models: models.filter((model) => model !== undefined) };
  },

  adapt(request, model) {
    const { rest, thinking } = takeThinkingRequest(request);
    const adapted = mapMessages(withoutRefusedTools(llamaCppFields(rest)), (message) =>
      renameThinking(joinTexts(developerAsSystem(message)), ['reasoning']),
    );
    // Ollama refuses the field for a model that cannot think.
    if (thinking === undefined || !model.capabilities.includes('thinking')) return adapted;
    return { ...adapted, reasoning_effort: thinking.on ? (thinking.effort ?? 'medium') : 'none' };
  },
};

/** Describes a model; undefined for a model that neither generates text nor embeds, such as one that makes images. */
async function describe(http: EngineHttp, id: string, context: number | undefined): Promise<ModelInfo | undefined> {
  const { status, body } = await http.post('/api/show', JSON.stringify({ model: id }));
  const facts = status === 200 ? shown.safeParse(body).data : undefined;
  const listed = facts?.capabilities;
  const operations = operationsOf(listed);
  if (operations.length === 0) return undefined;
  const capabilities: Capability[] = ['stream', 'json'];
  // Versions before 0.6.4 list no capabilities. Their models may support tools.
  if (listed === undefined || listed.includes('tools')) capabilities.push('tools');
  if (listed?.includes('vision')) capabilities.push('vision');
  if (listed?.includes('thinking')) capabilities.push('thinking');
  return describeModel(id, operations, capabilities, context ?? configuredContext(facts?.parameters));
}

/** @param listed the model's capabilities; undefined in versions that list none */
function operationsOf(listed: readonly string[] | undefined): ModelOperation[] {
  if (!listed) return ['generate', 'complete'];
  return [
    ...(listed.includes('completion') ? (['generate', 'complete'] as const) : []),
    ...(listed.includes('embedding') ? (['embed'] as const) : []),
  ];
}

function configuredContext(parameters = ''): number | undefined {
  const tokens = /^num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1];
  return tokens === undefined ? undefined : Number(tokens);
}

/** Removes the tools if `tool_choice` is `none`, because Ollama ignores that choice. */
function withoutRefusedTools(request: JsonObject): JsonObject {
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

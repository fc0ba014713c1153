import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { EngineHttp } from '../engine-http.ts';
import { developerAsSystem } from '#shared/upstream/requests/developer-as-system.ts';
import { joinTexts } from '#shared/upstream/requests/join-texts.ts';
import { mapMessages } from '#shared/upstream/requests/map-messages.ts';
import { replayThinking } from '#shared/upstream/requests/replay-thinking.ts';
import { requireNamedTool } from '../requests/require-named-tool.ts';
import { sameMaxTokens } from '#shared/upstream/requests/same-max-tokens.ts';
import { takeThinkingRequest } from '../requests/take-thinking-request.ts';
import type { Engine } from './engine.ts';
import { modelList } from './model-list.ts';

/** `POST /api/show`. */
const shown = z.looseObject({
  capabilities: z.array(z.string()).optional().catch(undefined),
  /** The model file's parameters, one a line. */
  parameters: z.string().optional().catch(undefined),
});

/** `GET /api/ps`: the models in memory, newer versions with the context they were loaded with. */
const loaded = z.looseObject({
  models: z
    .array(z.looseObject({ name: z.string(), context_length: z.number().int().positive().optional().catch(undefined) }))
    .nullable()
    .transform((models) => models ?? []),
});

/**
 * Ollama. The context that counts is the one a model is loaded with, not the one it was trained with: Ollama cuts what
 * is longer without a word. It is known while the model is loaded and remembered after that.
 */
export const ollama: Engine = {
  kind: 'ollama',
  healthPath: '/api/version',

  async discover(http, before) {
    const [{ data }, running] = await Promise.all([
      http.ask('/v1/models', modelList),
      http.askOptional('/api/ps', loaded),
    ]);
    const contexts = new Map(before.map((model) => [model.id, model.contextWindow]));
    for (const { name, context_length: tokens } of running?.models ?? []) if (tokens) contexts.set(name, tokens);
    const models = await Promise.all(data.map(({ id }) => describe(http, id, contexts.get(id))));
    return { models: models.filter((model) => model !== undefined) };
  },

  adapt(request, model) {
    const { rest, wish } = takeThinkingRequest(request);
    const adapted = mapMessages(withoutRefusedTools(requireNamedTool(sameMaxTokens(rest))), (message) =>
      replayThinking(joinTexts(developerAsSystem(message)), ['reasoning']),
    );
    // It refuses to think, or not to, with a model that cannot.
    if (wish === undefined || !model.capabilities.includes('thinking')) return adapted;
    return { ...adapted, reasoning_effort: wish.on ? (wish.effort ?? 'medium') : 'none' };
  },
};

/** Undefined for models that do not chat, those for embeddings for instance. */
async function describe(http: EngineHttp, id: string, context: number | undefined): Promise<ModelInfo | undefined> {
  const { status, body } = await http.post('/api/show', JSON.stringify({ model: id }));
  const facts = status === 200 ? shown.safeParse(body).data : undefined;
  const told = facts?.capabilities;
  if (told !== undefined && !told.includes('completion')) return undefined;
  const capabilities: Capability[] = ['stream', 'json'];
  // Versions before 0.6.4 tell nothing; they may well call tools.
  if (told === undefined || told.includes('tools')) capabilities.push('tools');
  if (told?.includes('vision')) capabilities.push('vision');
  if (told?.includes('thinking')) capabilities.push('thinking');
  return { id, capabilities, contextWindow: context ?? configuredContext(facts?.parameters) };
}

function configuredContext(parameters = ''): number | undefined {
  const tokens = /^num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1];
  return tokens === undefined ? undefined : Number(tokens);
}

/** It does not read `tool_choice: "none"`; without tools it cannot call any. */
function withoutRefusedTools(request: JsonObject): JsonObject {
  if (request.tool_choice !== 'none') return request;
  const { tools: _tools, tool_choice: _choice, ...rest } = request;
  return rest;
}

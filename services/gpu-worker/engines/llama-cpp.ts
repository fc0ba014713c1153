import { z } from 'zod';
import { parseAnswer } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from '../engine-http.ts';
import { developerAsSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { llamaCppFields } from '../requests/llama-cpp-fields.ts';
import { takeThinkingRequest, templateThinking } from '../requests/thinking.ts';
import { infillUpstream } from '#shared/translate/upstreams/infill/infill-upstream.ts';
import type { Engine } from './engine.ts';
import { describeLlama, llamaProps } from './llama-cpp-props.ts';
import { discoverRouted, llamaModels, noAutoloadQuery } from './llama-cpp-router.ts';
import { probeOperations } from './probe-operations.ts';

const counted = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/**
 * Properties of any llama-server. If it has many models, each in a process of its own, `role` is `router` and no field describes a model.
 */
const anyProps = llamaProps.extend({
  role: z.string().optional().catch(undefined),
  /** Whether a request for a model that is not loaded loads it. */
  models_autoload: z.boolean().optional().catch(undefined),
});

/** llama.cpp's llama-server. It serves one model under any name or, in its router mode, many models. */
export const llamaCpp: Engine = {
  kind: 'llama-cpp',
  switchesThinking: true,
  repeatsBegun: true,
  healthPath: '/health',
  // The beginning is appended to the template's output unchanged.
  continuation: { trims: false, limitsCompletions: false, countText },
  insertion: { format: infillUpstream, path: infillUpstream.path },

  async discover(http, before) {
    const [{ data }, facts] = await Promise.all([
      http.getJson('/v1/models', llamaModels),
      http.getJson('/props', anyProps),
    ]);
    if (facts.role === 'router') return discoverRouted(http, data, facts.models_autoload === true, before);
    const describe = async ({ id }: { id: string }) => describeLlama(id, await probeOperations(http, id), facts);
    return { models: await Promise.all(data.map(describe)), slots: facts.total_slots };
  },

  adapt(request) {
    const { rest, thinking } = takeThinkingRequest(request);
    const adapted = mapMessages(llamaCppFields(rest), (message) =>
      renameThinking(developerAsSystem(message), ['reasoning_content']),
    );
    if (thinking === undefined) return adapted;
    return {
      ...templateThinking(adapted, thinking.on),
      ...(thinking.effort !== undefined && { reasoning_effort: thinking.effort }),
      ...(thinking.budget !== undefined && { thinking_budget_tokens: thinking.budget }),
    };
  },

  async countTokens(http, request, signal) {
    const path = `/v1/chat/completions/input_tokens${noAutoloadQuery}`;
    return parseAnswer(path, await http.post(path, JSON.stringify(request), signal), counted).input_tokens;
  },
};

const tokenized = z.looseObject({ tokens: z.array(z.unknown()) });

async function countText(
  http: EngineHttp,
  { model, text, isWhole }: { model: string; text: string; isWhole: boolean },
  signal: AbortSignal,
): Promise<number> {
  const question = JSON.stringify({ model, content: text, add_special: isWhole });
  return parseAnswer('/tokenize', await http.post(`/tokenize${noAutoloadQuery}`, question, signal), tokenized).tokens
    .length;
}

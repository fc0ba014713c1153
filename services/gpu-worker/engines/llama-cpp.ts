import { z } from 'zod';
import { parseAnswer } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from '../engine-http.ts';
import { changeDeveloperToSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { toLlamaCppFields } from '../requests/llama-cpp-fields.ts';
import { takeThinking, setTemplateThinking } from '../requests/thinking.ts';
import { infillUpstream } from '#shared/translate/completions-infill/completions-to-infill.ts';
import type { Engine } from './engine.ts';
import { describeLlama, llamaProps } from './llama-cpp-props.ts';
import { discoverRouterModels, llamaModels, noAutoloadQuery } from './llama-cpp-router.ts';
import { probeOperations } from './probe-operations.ts';

const tokenCountAnswer = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/**
 * `GET /props` of any llama-server. In router mode, the server runs a process for each of its models: `role` is `router`, and no field
 * describes a model.
 */
const serverProps = llamaProps.extend({
  role: z.string().optional().catch(undefined),
  /** Whether a request loads its model. */
  models_autoload: z.boolean().optional().catch(undefined),
});

/** llama.cpp's llama-server. It serves one model under any name or, in router mode, many models. */
export const llamaCpp: Engine = {
  kind: 'llama-cpp',
  switchesThinking: true,
  repeatsBeginning: true,
  healthPath: '/health',
  // llama-server appends the beginning to the output of the template unchanged.
  continuation: { mayStripSpaces: false, limitsCompletions: false, countText },
  insertion: { format: infillUpstream, path: infillUpstream.path },

  async discover(http, previousModels) {
    const [{ data }, facts] = await Promise.all([
      http.getJson('/v1/models', llamaModels),
      http.getJson('/props', serverProps),
    ]);
    if (facts.role === 'router')
      return discoverRouterModels(http, data, facts.models_autoload === true, previousModels);
    const describe = async ({ id }: { id: string }) => describeLlama(id, await probeOperations(http, id), facts);
    return { models: await Promise.all(data.map(describe)), slots: facts.total_slots };
  },

  adapt(request) {
    const { rest, thinking } = takeThinking(request);
    const adapted = mapMessages(toLlamaCppFields(rest), (message) =>
      renameThinking(changeDeveloperToSystem(message), ['reasoning_content']),
    );
    if (thinking === undefined) return adapted;
    return {
      ...setTemplateThinking(adapted, thinking.isOn),
      ...(thinking.effort !== undefined && { reasoning_effort: thinking.effort }),
      ...(thinking.budget !== undefined && { thinking_budget_tokens: thinking.budget }),
    };
  },

  async countTokens(http, request, signal) {
    const path = `/v1/chat/completions/input_tokens${noAutoloadQuery}`;
    return parseAnswer(path, await http.post(path, JSON.stringify(request), signal), tokenCountAnswer).input_tokens;
  },
};

const tokenizeAnswer = z.looseObject({ tokens: z.array(z.unknown()) });

async function countText(
  http: EngineHttp,
  { model, text, isPrompt }: { model: string; text: string; isPrompt: boolean },
  signal: AbortSignal,
): Promise<number> {
  const body = JSON.stringify({ model, content: text, add_special: isPrompt });
  return parseAnswer('/tokenize', await http.post(`/tokenize${noAutoloadQuery}`, body, signal), tokenizeAnswer).tokens
    .length;
}

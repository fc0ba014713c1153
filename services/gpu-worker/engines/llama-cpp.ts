import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { fit } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from '../engine-http.ts';
import { developerAsSystem, mapMessages, replayThinking } from '#shared/upstream/chat-messages.ts';
import { llamaCppFields } from '../requests/llama-cpp-fields.ts';
import { takeThinkingRequest, templateThinking } from '../requests/thinking.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { featureKey } from '#shared/formats/request-feature.ts';
import { infillUpstream } from '#shared/translate/upstreams/infill/infill-upstream.ts';
import { describeModel } from './describe-model.ts';
import type { Engine } from './engine.ts';
import { modelList } from './model-list.ts';
import { probeOperations } from './probe-operations.ts';

const positive = z.number().int().positive().optional().catch(undefined);

/** `GET /props` of llama-server. */
const props = z.looseObject({
  total_slots: positive,
  /** Tokens per slot, not of all slots together. */
  default_generation_settings: z.looseObject({ n_ctx: positive }).optional().catch(undefined),
  modalities: z.looseObject({ vision: z.boolean(), audio: z.boolean().optional() }).optional().catch(undefined),
  chat_template: z.string().optional().catch(undefined),
  chat_template_caps: z
    .looseObject({ supports_tools: z.boolean().optional(), supports_preserve_reasoning: z.boolean().optional() })
    .optional()
    .catch(undefined),
});

const counted = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/** llama.cpp's llama-server. It serves one model under any name. */
export const llamaCpp: Engine = {
  kind: 'llama-cpp',
  switchesThinking: true,
  repeatsBegun: true,
  healthPath: '/health',
  // The beginning is put behind the template's output as it is.
  continuation: { trims: false, limitsCompletions: false, countText },
  insertion: { format: infillUpstream, path: infillUpstream.path },

  async discover(http) {
    const [{ data }, facts] = await Promise.all([http.ask('/v1/models', modelList), http.ask('/props', props)]);
    const capabilities: Capability[] = ['stream', 'json', 'continue'];
    if (facts.chat_template_caps?.supports_tools !== false) capabilities.push('tools');
    if (facts.modalities?.vision === true) capabilities.push('vision');
    if (thinks(facts)) capabilities.push('thinking');
    const contextWindow = facts.default_generation_settings?.n_ctx;
    const lacks = lackedParts(facts);
    const describe = async ({ id }: { id: string }): Promise<ModelInfo> => {
      const operations = onlyPurpose(await probeOperations(http, id), facts);
      const model = describeModel(id, operations, capabilities, contextWindow);
      return operations.includes('generate') ? { ...model, lacks } : model;
    };
    return { models: await Promise.all(data.map(describe)), slots: facts.total_slots };
  },

  adapt(request) {
    const { rest, thinking } = takeThinkingRequest(request);
    const adapted = mapMessages(llamaCppFields(rest), (message) =>
      replayThinking(developerAsSystem(message), ['reasoning_content']),
    );
    if (thinking === undefined) return adapted;
    return {
      ...templateThinking(adapted, thinking.on),
      ...(thinking.effort !== undefined && { reasoning_effort: thinking.effort }),
      ...(thinking.budget !== undefined && { thinking_budget_tokens: thinking.budget }),
    };
  },

  async countTokens(http, request, signal) {
    const path = '/v1/chat/completions/input_tokens';
    return fit(path, await http.post(path, JSON.stringify(request), signal), counted).input_tokens;
  },
};

const tokenized = z.looseObject({ tokens: z.array(z.unknown()) });

async function countText(
  http: EngineHttp,
  { text, isWhole }: { text: string; isWhole: boolean },
  signal: AbortSignal,
): Promise<number> {
  const question = JSON.stringify({ content: text, add_special: isWhole });
  return fit('/tokenize', await http.post('/tokenize', question, signal), tokenized).tokens.length;
}

/** The parts of chat requests that it refuses: files always, sounds without audio input. Older versions do not say that. */
function lackedParts({ modalities }: z.output<typeof props>): string[] {
  const parts = ['documents', 'file_ids', ...(modalities && modalities.audio !== true ? ['audio_input'] : [])];
  return parts.map((name) => featureKey(name, chatFormat.name));
}

/**
 * What a server is for. One that was started with `--embeddings` or `--reranking` is for nothing else, but may go on to answer the other
 * paths, with texts of a model that was not made for them.
 */
function onlyPurpose(
  served: readonly ModelOperation[],
  { modalities }: z.output<typeof props>,
): readonly ModelOperation[] {
  const purpose = (['rank', 'embed'] as const).find((operation) => served.includes(operation));
  if (purpose) return [purpose];
  // The path of transcriptions is there whatever the model is.
  return modalities?.audio === true ? served : served.filter((operation) => operation !== 'transcribe');
}

/** Newer versions report it. For older ones, the chat template of a thinking model contains one of these words. */
function thinks({ chat_template: template = '', chat_template_caps: caps }: z.output<typeof props>): boolean {
  return caps?.supports_preserve_reasoning ?? /enable_thinking|reasoning|<think>/.test(template);
}

import { z } from 'zod';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import { changeDeveloperToSystem, mapMessages, renameThinking } from '#shared/upstream/chat-messages.ts';
import { takeThinking, setTemplateThinking } from '../requests/thinking.ts';
import { type ModelOperation, guessOperations } from '#shared/core/operation.ts';
import { describeModel, type Engine, modelList } from './engine.ts';
import { continuationByTokenizing, continueLastMessage, countByTokenizing } from './vllm.ts';

const positiveInteger = z.number().int().positive().nullish().catch(undefined);

const modelInfo = z.looseObject({
  model_path: z.string(),
  has_image_understanding: z.boolean().optional().catch(undefined),
  /** False for a model that was started to embed or to rank. */
  is_generation: z.boolean().optional().catch(undefined),
});

const serverInfo = z.looseObject({
  dp_size: positiveInteger,
  max_running_requests: positiveInteger,
  internal_states: z
    .array(z.looseObject({ effective_max_running_requests_per_dp: positiveInteger }))
    .optional()
    .catch(undefined),
});

/** SGLang. Its information endpoints were renamed, so the worker tries the newer name first. */
export const sglang: Engine = {
  kind: 'sglang',
  switchesThinking: true,
  healthPath: '/health',
  continuation: continuationByTokenizing,

  async discover(http) {
    const [{ data }, model, server] = await Promise.all([
      http.getJson('/v1/models', modelList),
      http
        .getOptionalJson('/model_info', modelInfo)
        .then((info) => info ?? http.getOptionalJson('/get_model_info', modelInfo)),
      http
        .getOptionalJson('/server_info', serverInfo)
        .then((info) => info ?? http.getOptionalJson('/get_server_info', serverInfo)),
    ]);
    const vision: Capability[] = model?.has_image_understanding === true ? ['vision'] : [];
    const slotsPerReplica = server?.internal_states?.[0]?.effective_max_running_requests_per_dp;
    return {
      models: data.map(({ id, max_model_len: contextWindow }) => {
        const operations = model?.is_generation === false ? guessEmbedOrRank(id) : generationOperations;
        return describeModel(
          id,
          operations,
          ['stream', 'tools', ...vision, 'thinking', 'json', 'continue'],
          contextWindow,
        );
      }),
      slots: slotsPerReplica ? slotsPerReplica * (server?.dp_size ?? 1) : (server?.max_running_requests ?? undefined),
    };
  },

  adapt(request) {
    const { rest, thinking } = takeThinking(request);
    const adapted = continueLastMessage(
      mapMessages(rest, (message) => renameThinking(changeDeveloperToSystem(message), ['reasoning_content'])),
    );
    if (thinking === undefined) return adapted;
    const withTemplateSettings = setTemplateThinking(adapted, thinking.isOn);
    return thinking.effort === undefined
      ? withTemplateSettings
      : { ...withTemplateSettings, reasoning_effort: thinking.effort };
  },

  countTokens: countByTokenizing,
};

const generationOperations: readonly ModelOperation[] = ['generate', 'complete'];

/** Guesses whether a model that does not generate embeds or ranks. SGLang does not report this. */
function guessEmbedOrRank(id: string): readonly ModelOperation[] {
  return guessOperations(id).includes('rank') ? ['rank'] : ['embed'];
}

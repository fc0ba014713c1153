import { generates, type ClientApi, type ModelCard } from '../client-api.ts';
import { openaiBatches } from '../batches/openai-batches.ts';
import { codexModels } from './codex-models.ts';

/** The API of OpenAI's SDKs, with or without `/v1` in the base URL (OpenAI API reference, "Models"). */
export const openaiApi: ClientApi = {
  segment: 'openai',
  segmentSetting: 'CHAT_FAMILY',
  prefixes: ['/v1', ''],
  listModels: (cards, query) => ({
    object: 'list',
    data: cards.map(modelObject),
    // Codex reads this list, and no other client asks for it.
    ...(query['client_version'] !== undefined && { models: codexModels(cards.filter(generates)) }),
  }),
  showModel: modelObject,
  batches: openaiBatches,
};

function modelObject({ id, created, ownedBy, operations, contextWindow, maxOutput }: ModelCard): object {
  return {
    id,
    object: 'model',
    created,
    owned_by: ownedBy,
    operations,
    // Under the names of Groq, OpenRouter and vLLM, one of which most clients read.
    ...(contextWindow !== undefined && {
      context_window: contextWindow,
      context_length: contextWindow,
      max_model_len: contextWindow,
    }),
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
  };
}

import { generatesAnswers, type ClientApi, type ModelCard } from '../client-api.ts';
import { openaiBatches } from '../batches/openai-batches.ts';
import { describeCodexModels } from './codex-models.ts';

/** The API that OpenAI's SDKs use, with or without `/v1` in the base URL (OpenAI API reference, "Models"). */
export const openaiApi: ClientApi = {
  segment: 'openai',
  segmentSetting: 'CHAT_FAMILY',
  prefixes: ['/v1', ''],
  listModels: (cards, query) => ({
    object: 'list',
    data: cards.map(toModelObject),
    // Only Codex sends `client_version` and reads this list.
    ...(query['client_version'] !== undefined && { models: describeCodexModels(cards.filter(generatesAnswers)) }),
  }),
  showModel: toModelObject,
  batches: openaiBatches,
};

function toModelObject(card: ModelCard): object {
  const { id, created, ownedBy, operations, contextWindow, maxOutput } = card;
  return {
    id,
    object: 'model',
    created,
    owned_by: ownedBy,
    operations,
    // Groq, OpenRouter and vLLM name the field differently, and most clients read one of these names.
    ...(contextWindow !== undefined && {
      context_window: contextWindow,
      context_length: contextWindow,
      max_model_len: contextWindow,
    }),
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...(generatesAnswers(card) && toAcceptedFields(card)),
  };
}

/** Returns the accepted inputs and parameters of a model, in the fields of OpenRouter's model list. */
function toAcceptedFields({ capabilities }: ModelCard): object {
  const input = capabilities.includes('vision') ? ['text', 'image'] : ['text'];
  return {
    architecture: { input_modalities: input, output_modalities: ['text'] },
    supported_parameters: parametersByCapability.flatMap(([capability, names]) =>
      capabilities.includes(capability) ? names : [],
    ),
  };
}

/** The request parameters that each capability allows. */
const parametersByCapability: readonly [string, readonly string[]][] = [
  ['tools', ['tools', 'tool_choice']],
  ['json', ['response_format', 'structured_outputs']],
  ['thinking', ['reasoning', 'include_reasoning']],
];

import { toAnnouncedOperations, type ModelOperation, guessOperations } from '#shared/core/operation.ts';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { embeddingsUpstream, rerankUpstream } from '#shared/translate/same-format/same-formats.ts';
import type { FurtherFormat, Provider } from './provider.ts';
import { listServedFormats } from './served-format.ts';

/** The embeddings format, for models whose names show that they return vectors and do nothing else. */
export const guessedEmbeddings: FurtherFormat = {
  format: embeddingsUpstream,
  serves: (id) => onlyIf(guessOperations(id).includes('embed')),
};

/** The rerank format, for models whose names show that they rank documents and do nothing else. */
export const guessedRanking: FurtherFormat = {
  format: rerankUpstream,
  serves: (id) => onlyIf(guessOperations(id).includes('rank')),
};

/** Returns the value of `serves` for a format with models that no other format serves. */
export function onlyIf(isServed: boolean): 'only' | 'not' {
  return isServed ? 'only' : 'not';
}

/** Returns a model with the operations of its formats. Capabilities concern conversations, so a model that does not generate has none. */
export function withOperations(
  provider: Pick<Provider, 'format' | 'otherFormats' | 'rules' | 'adaptation'>,
  model: ModelInfo,
): ModelInfo {
  const operations = new Set<ModelOperation>(
    listServedFormats(provider, model.id).map(({ format }) => format.operation),
  );
  const capabilities = operations.has('generate') ? model.capabilities : [];
  return { ...model, ...toAnnouncedOperations([...operations]), capabilities };
}

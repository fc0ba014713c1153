import { announcedOperations, type ModelOperation } from '#shared/core/operation.ts';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import { embeddingsUpstream } from '#shared/translate/upstreams/embeddings/embeddings-upstream.ts';
import { rerankUpstream } from '#shared/translate/upstreams/rerank/rerank-upstream.ts';
import { guessOperations } from '#shared/upstream/guess-operations.ts';
import type { FurtherFormat, Provider } from './provider.ts';
import { servedFormats } from './served-format.ts';

/** Models that give vectors, known by their names. They do nothing else. */
export const guessedEmbeddings: FurtherFormat = {
  format: embeddingsUpstream,
  serves: (id) => onlyIf(guessOperations(id).includes('embed')),
};

/** Models that rank documents, known by their names. They do nothing else. */
export const guessedRanking: FurtherFormat = {
  format: rerankUpstream,
  serves: (id) => onlyIf(guessOperations(id).includes('rank')),
};

/** For a format in which models are served that are served in no other one. */
export function onlyIf(isServed: boolean): 'only' | 'not' {
  return isServed ? 'only' : 'not';
}

/**
 * A model with its operations, which are those of the formats that it is served in. Capabilities are those of conversations, so a model
 * that does not generate has none.
 */
export function withOperations(
  provider: Pick<Provider, 'format' | 'further' | 'rules' | 'adaptation'>,
  model: ModelInfo,
): ModelInfo {
  const found = new Set<ModelOperation>(servedFormats(provider, model.id).map(({ format }) => format.operation));
  const capabilities = found.has('generate') ? model.capabilities : [];
  return { ...model, ...announcedOperations([...found]), capabilities };
}

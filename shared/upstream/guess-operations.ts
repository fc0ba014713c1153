import type { ModelOperation } from '#shared/core/operation.ts';

/** Matches names of models that rank. Most names contain the word `rerank`; Llama Rank is a series without it. */
const rankingModels = /rerank|(^|[/-])llama-rank/i;
/** Matches names of models that compute vectors. Most names contain the word `embed`; the rest of the pattern matches series without it. */
const embeddingModels = /embed|retrieval|(^|[/-])(bge|e5|gte|minilm)-|sentence-t/i;

/** Guesses a model's operations from its name. Used if nothing else states the operations. */
export function guessOperations(id: string): ModelOperation[] {
  if (rankingModels.test(id)) return ['rank'];
  return embeddingModels.test(id) ? ['embed'] : ['generate', 'complete'];
}

import type { ModelOperation } from '#shared/core/operation.ts';

/** Matches names of models that rank. Most contain the word; the others are series of such models. */
const ranks = /rerank|(^|[/-])llama-rank/i;
/** Matches names of models that compute vectors. Most contain the word; the others are series of such models. */
const embeds = /embed|retrieval|(^|[/-])(bge|e5|gte|minilm)-|sentence-t/i;

/** Guesses a model's operations from its name, if nothing else states them. */
export function guessOperations(id: string): ModelOperation[] {
  if (ranks.test(id)) return ['rank'];
  return embeds.test(id) ? ['embed'] : ['generate', 'complete'];
}

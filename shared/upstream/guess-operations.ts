import type { ModelOperation } from '#shared/core/operation.ts';

/** Names of models that rank, and of models that compute vectors: most contain the word, the others are series of such models. */
const ranks = /rerank|(^|[/-])llama-rank/i;
const embeds = /embed|retrieval|(^|[/-])(bge|e5|gte|minilm)-|sentence-t/i;

/** Guesses a model's operations from its name, if nothing else states them. */
export function guessOperations(id: string): ModelOperation[] {
  if (ranks.test(id)) return ['rank'];
  return embeds.test(id) ? ['embed'] : ['generate', 'complete'];
}

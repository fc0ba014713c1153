import type { ModelOperation } from '#shared/core/operation.ts';

/** Names of models that rank, and that give vectors: most contain the word, the others are families of such models. */
const ranks = /rerank|(^|[/-])llama-rank/i;
const embeds = /embed|retrieval|(^|[/-])(bge|e5|gte|minilm)-|sentence-t/i;

/** Guesses from a model's name what it does, where nothing else tells. */
export function guessOperations(id: string): ModelOperation[] {
  if (ranks.test(id)) return ['rank'];
  return embeds.test(id) ? ['embed'] : ['generate', 'complete'];
}

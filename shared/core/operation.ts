/**
 * The operations of models: generate an answer, continue a text, compute vectors of texts, rank documents, moderate texts, draw images,
 * edit images, speak a text, transcribe speech, translate speech into English.
 */
export const modelOperations = [
  'generate',
  'complete',
  'embed',
  'rank',
  'moderate',
  'draw',
  'redraw',
  'speak',
  'transcribe',
  'translate',
] as const;
export type ModelOperation = (typeof modelOperations)[number];

export const operations = [...modelOperations, 'count_tokens', 'execute_tool'] as const;
export type Operation = (typeof operations)[number];

/** The operations of a model that announces no operations, because announcements omit the list for a model that only generates. */
const defaultOperations: readonly ModelOperation[] = ['generate'];

export function listOperations({
  operations: announcedOperations = defaultOperations,
}: {
  readonly operations?: readonly ModelOperation[] | undefined;
}): readonly ModelOperation[] {
  return announcedOperations;
}

/** Whether a model can do an operation. Models that generate also count tokens. */
export function canDo(model: Parameters<typeof listOperations>[0], operation: Operation): boolean {
  const requiredOperation = operation === 'count_tokens' ? 'generate' : operation;
  return listOperations(model).some((supported) => supported === requiredOperation);
}

/** Returns the field with the operations that a worker announces for a model; an empty object if the model only generates. */
export function toAnnouncedOperations(supported: readonly ModelOperation[]): { operations?: ModelOperation[] } {
  const isPlain = supported.length === 1 && supported[0] === 'generate';
  return isPlain ? {} : { operations: modelOperations.filter((operation) => supported.includes(operation)) };
}

/** Matches names of models that rank. Most names contain the word `rerank`; Llama Rank is a series without it. */
const rankingModels = /rerank|(^|[/-])llama-rank/i;
/** Matches names of models that compute vectors. Most names contain the word `embed`; the rest of the pattern matches series without it. */
const embeddingModels = /embed|retrieval|(^|[/-])(bge|e5|gte|minilm)-|sentence-t/i;

/** Guesses a model's operations from its name. Used if nothing else states the operations. */
export function guessOperations(id: string): ModelOperation[] {
  if (rankingModels.test(id)) return ['rank'];
  return embeddingModels.test(id) ? ['embed'] : ['generate', 'complete'];
}

/**
 * What models are asked for: to generate an answer, to continue a text, for vectors of texts, to rank documents, to judge texts, for
 * pictures, for changed pictures, to speak a text, to write down what is said, also in English.
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

/** What a request asks of a worker. */
export const operations = [...modelOperations, 'count_tokens', 'execute_tool'] as const;
export type Operation = (typeof operations)[number];

/** What a model does that announces no operations, as those of releases that know no others. */
const plainOperations: readonly ModelOperation[] = ['generate'];

/** The operations of a model. */
export function operationsOf({
  operations: announced = plainOperations,
}: {
  readonly operations?: readonly ModelOperation[] | undefined;
}): readonly ModelOperation[] {
  return announced;
}

/** Whether a model can be asked for an operation. Tokens are counted by those that generate. */
export function does(model: Parameters<typeof operationsOf>[0], operation: Operation): boolean {
  const needed = operation === 'count_tokens' ? 'generate' : operation;
  return operationsOf(model).some((each) => each === needed);
}

/** What a worker announces of the operations of a model: nothing if it only generates. */
export function announcedOperations(found: readonly ModelOperation[]): { operations?: ModelOperation[] } {
  const isPlain = found.length === 1 && found[0] === 'generate';
  return isPlain ? {} : { operations: modelOperations.filter((operation) => found.includes(operation)) };
}

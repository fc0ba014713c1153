import type { ServedModel } from '../../contract/live.ts';

/** The common names of the operations of models. A router of another release may have other operations. */
const operationNames = new Map<string, string>([
  ['generate', 'conversations'],
  ['complete', 'completions'],
  ['embed', 'embeddings'],
  ['rank', 'reranking'],
  ['moderate', 'moderations'],
  ['draw', 'images'],
  ['redraw', 'image edits'],
  ['speak', 'speech'],
  ['transcribe', 'transcriptions'],
  ['translate', 'audio translations'],
]);

export function describeOperations(operations: ServedModel['operations']): string {
  return operations.map((operation) => operationNames.get(operation) ?? operation).join(', ');
}

/** Returns whether a model can hold conversations. */
export function canGenerate({ operations }: Pick<ServedModel, 'operations'>): boolean {
  return operations.includes('generate');
}

import type { ServedModel } from '../../contract/live.ts';

/** What people call the operations of models. A router of another release may have others. */
const labels = new Map<string, string>([
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

/** What a model does, for people. */
export function operationLabels(operations: ServedModel['operations']): string {
  return operations.map((operation) => labels.get(operation) ?? operation).join(', ');
}

/** Whether one can converse with a model. */
export function generates({ operations }: Pick<ServedModel, 'operations'>): boolean {
  return operations.includes('generate');
}

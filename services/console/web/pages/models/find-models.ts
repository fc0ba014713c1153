import type { ServedModel } from '../../../contract/live.ts';

/** What the list of models is narrowed to. */
export interface ModelSearch {
  text: string;
  /** All of them. */
  capabilities: readonly string[];
}

/** The models that match: each word of the text is in their name, tiers, operations or the models behind the name. */
export function findModels(models: readonly ServedModel[], { text, capabilities }: ModelSearch): ServedModel[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return models.filter((model) => {
    const has: readonly string[] = model.capabilities;
    if (!capabilities.every((name) => has.includes(name))) return false;
    const behind = model.servedBy.flatMap(({ tier, models: names }) => [tier, ...names]);
    const all = [model.id, ...behind, ...model.operations].join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** The capabilities that any of the models has, in the order in which they first come. */
export function capabilitiesOf(models: readonly ServedModel[]): string[] {
  return [...new Set(models.flatMap(({ capabilities }) => capabilities))];
}

/** Models that are served on a tier that is paid for, of which no cost is counted because they have no price. */
export function unpricedOf(models: readonly ServedModel[]): string[] {
  return [...new Set(models.flatMap(({ servedBy }) => servedBy.flatMap(({ unpriced = [] }) => unpriced)))].toSorted();
}

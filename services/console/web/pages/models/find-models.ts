import type { ServedModel } from '../../../contract/live.ts';

export interface ModelSearch {
  text: string;
  /** A model must have all of them. */
  capabilities: readonly string[];
}

/**
 * Returns the models that match a search. Each word of the text must occur in their name, their tiers, their operations or the models
 * behind the name.
 */
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

/** Returns the capabilities of all models, each once, in the order of their first occurrence. */
export function capabilitiesOf(models: readonly ServedModel[]): string[] {
  return [...new Set(models.flatMap(({ capabilities }) => capabilities))];
}

/** Returns the models on paid tiers whose cost is not counted because they have no price. */
export function unpricedOf(models: readonly ServedModel[]): string[] {
  return [...new Set(models.flatMap(({ servedBy }) => servedBy.flatMap(({ unpriced = [] }) => unpriced)))].toSorted();
}

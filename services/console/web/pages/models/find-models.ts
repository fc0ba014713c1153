import type { ServedModel } from '../../../contract/live.ts';

export interface ModelSearch {
  text: string;
  /** Capabilities that each found model has. */
  capabilities: readonly string[];
}

/**
 * Returns the models that match a search. Each word of the text must occur in the model's name, its tiers, its operations or the models
 * behind the name.
 */
export function findModels(models: readonly ServedModel[], { text, capabilities }: ModelSearch): ServedModel[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return models.filter((model) => {
    const modelCapabilities: readonly string[] = model.capabilities;
    if (!capabilities.every((name) => modelCapabilities.includes(name))) return false;
    const tiersAndModels = model.servedBy.flatMap(({ tier, models: names }) => [tier, ...names]);
    const searchedText = [model.id, ...tiersAndModels, ...model.operations].join('\n').toLowerCase();
    return words.every((word) => searchedText.includes(word));
  });
}

/** Lists the capabilities of all models without duplicates, in the order of their first occurrence. */
export function listCapabilities(models: readonly ServedModel[]): string[] {
  return [...new Set(models.flatMap(({ capabilities }) => capabilities))];
}

/** Returns the sorted names of the models on paid tiers that have no price. The router counts no cost for these models. */
export function listUnpriced(models: readonly ServedModel[]): string[] {
  return [...new Set(models.flatMap(({ servedBy }) => servedBy.flatMap(({ unpriced = [] }) => unpriced)))].toSorted();
}

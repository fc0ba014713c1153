import type { ServedModel } from '../../../contract/live.ts';

export interface ModelSearch {
  text: string;
  /** The capabilities that a found model must have, all of them. */
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
    const servingNames = model.servedBy.flatMap(({ tier, models: names }) => [tier, ...names]);
    const searchedText = [model.id, ...servingNames, ...model.operations].join('\n').toLowerCase();
    return words.every((word) => searchedText.includes(word));
  });
}

/** Returns the capabilities of all models, each once, in the order of their first occurrence. */
export function listCapabilities(models: readonly ServedModel[]): string[] {
  return [...new Set(models.flatMap(({ capabilities }) => capabilities))];
}

/** Returns the models on paid tiers whose cost is not counted because they have no price. */
export function listUnpriced(models: readonly ServedModel[]): string[] {
  return [...new Set(models.flatMap(({ servedBy }) => servedBy.flatMap(({ unpriced = [] }) => unpriced)))].toSorted();
}

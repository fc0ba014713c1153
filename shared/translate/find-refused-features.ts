import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { createFeatureKey } from '#shared/formats/request-feature.ts';
import type { ModelTraits, Translation } from './translation.ts';

/**
 * Returns the client-format features that an upstream lacks. The upstream lacks a feature if the translation refuses the feature's example
 * request. So the code that refusesExample requests also decides what the worker announces.
 * @param translations the translations to the upstream's format, one for each client format
 * @returns keys of the features, see `createFeatureKey`
 */
export function findRefusedFeatures<Request>(
  translations: readonly Translation<Request>[],
  traits: ModelTraits,
): string[] {
  return translations.flatMap((translation) => {
    const { name: format, features } = translation.client;
    const lacked = (features?.features ?? []).filter(({ example }) => refusesExample(translation, example, traits));
    return lacked.map(({ name }) => createFeatureKey(name, format));
  });
}

function refusesExample<Request>(
  { translateRequest: request }: Translation<Request>,
  example: JsonObject,
  traits: ModelTraits,
): boolean {
  try {
    request({ model: traits.model, ...example }, traits);
    return false;
  } catch (error) {
    if (error instanceof RouterError && error.code === 'unsupported_parameter') return true;
    throw error;
  }
}

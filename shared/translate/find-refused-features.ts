import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { featureKey } from '#shared/formats/request-feature.ts';
import type { ModelTraits, Translation } from './translation.ts';

/**
 * Returns the features of client formats that an upstream lacks, namely those whose example the translation refuses. So the code that would
 * refuse a request also decides what the worker announces.
 * @param translations the translations to the upstream's format, one for each client format
 * @returns keys of the features, see `featureKey`
 */
export function findRefusedFeatures<Request>(
  translations: readonly Translation<Request>[],
  traits: ModelTraits,
): string[] {
  return translations.flatMap((translation) => {
    const { name: format, features } = translation.client;
    const lacked = (features?.features ?? []).filter(({ example }) => refuses(translation, example, traits));
    return lacked.map(({ name }) => featureKey(name, format));
  });
}

function refuses<Request>({ request }: Translation<Request>, example: JsonObject, traits: ModelTraits): boolean {
  try {
    request({ model: traits.model, ...example }, traits);
    return false;
  } catch (error) {
    if (error instanceof RouterError && error.code === 'unsupported_parameter') return true;
    throw error;
  }
}

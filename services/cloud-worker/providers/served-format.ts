import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { findRefusedFeatures } from '#shared/translate/find-refused-features.ts';
import { findClientFormats, findTranslation, type Translation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Provider } from './provider.ts';
import { applyRules } from './request-rules.ts';

export interface ServedFormat {
  format: HttpUpstreamFormat;
  compacts?: boolean | undefined;
  encrypts?: boolean | undefined;
  /** Returns a copy of a translated request, changed so that the provider accepts it. */
  adapt: (request: JsonObject, model: ModelInfo) => JsonObject;
}

type ProviderFormats = Pick<Provider, 'format' | 'further' | 'rules' | 'adaptation'>;

/** Returns the formats in which the provider serves a model, the main format first. The rules apply only to the main format. */
export function servedFormats(provider: ProviderFormats, id: string): ServedFormat[] {
  const { format, further = [], rules, adaptation } = provider;
  const servedFurther = further.map((each) => ({ ...each, how: each.serves(id) })).filter(({ how }) => how !== 'not');
  const formats = servedFurther.map(({ format: other, compacts, encrypts, adaptation: change }) => ({
    format: other,
    compacts,
    encrypts,
    adapt: (request: JsonObject, model: ModelInfo) => change?.apply(request, model) ?? request,
  }));
  if (servedFurther.some(({ how }) => how === 'only')) return formats;
  const adapt = (request: JsonObject, model: ModelInfo): JsonObject => {
    const ruledRequest = applyRules(request, rules);
    return adaptation?.apply(ruledRequest, model) ?? ruledRequest;
  };
  return [{ format, adapt }, ...formats];
}

export interface ChosenFormat {
  translation: Translation;
  servedFormat: ServedFormat;
}

/**
 * Chooses the format in which a model serves a client format: the same format if the provider has it, otherwise the first one with a
 * translation.
 * @param lacks returns whether the provider lacks the path of a format for the model; ignored if it returns true for all formats
 * @throws RouterError `internal` if there is no translation
 */
export function chooseFormat(
  provider: ProviderFormats,
  id: string,
  translations: readonly Translation[],
  client: string,
  lacks: (format: string) => boolean = () => false,
): ChosenFormat {
  const formats = servedFormats(provider, id);
  const translatable = formats.filter(({ format }) => findClientFormats(translations, format).includes(client));
  const available = translatable.filter(({ format }) => !lacks(format.name));
  const candidates = available.length > 0 ? available : translatable;
  const servedFormat = candidates.find(({ format }) => format.name === client) ?? candidates[0] ?? formats[0];
  const { format } = servedFormat ?? provider;
  return {
    translation: findTranslation(translations, client, format),
    servedFormat: servedFormat ?? { format, adapt: (as) => as },
  };
}

/** Returns the client formats that a provider can serve in at least one of its formats. */
export function listClientFormats(
  { format, further = [] }: ProviderFormats,
  translations: readonly Translation[],
): string[] {
  const all = [format, ...further.map((each) => each.format)];
  return [...new Set(all.flatMap((each) => findClientFormats(translations, each)))];
}

/**
 * Creates a function that returns the features of client requests that a model of the provider does not support. The worker announces
 * these features. The features of a pair of formats are computed once.
 */
export function createLackedFeatures(
  provider: ProviderFormats & Pick<Provider, 'takesFiles'>,
  translations: readonly Translation[],
): (id: string) => readonly string[] {
  const { takesFiles } = provider;
  const clientFormats = listClientFormats(provider, translations);
  const lacksByTranslation = new Map<Translation, readonly string[]>();
  const lacksByModel = new Map<string, readonly string[]>();
  return (id) => {
    const knownLacks = lacksByModel.get(id);
    if (knownLacks) return knownLacks;
    const formats = servedFormats(provider, id).map(({ format }) => format);
    const servedClients = clientFormats.filter((client) =>
      formats.some((each) => findClientFormats(translations, each).includes(client)),
    );
    const lacks = servedClients.flatMap((client) => {
      const { translation } = chooseFormat(provider, id, translations, client);
      const translationLacks =
        lacksByTranslation.get(translation) ?? findRefusedFeatures([translation], { model: 'any', takesFiles });
      lacksByTranslation.set(translation, translationLacks);
      return translationLacks;
    });
    lacksByModel.set(id, lacks);
    return lacks;
  };
}

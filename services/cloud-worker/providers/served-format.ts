import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { lackedFeatures } from '#shared/translate/lacked-features.ts';
import { clientFormatsOn, findTranslation, type Translation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Provider } from './provider.ts';
import { applyRules } from './request-rules.ts';

/** One of the wire formats in which a provider serves a model. */
export interface ServedFormat {
  format: HttpUpstreamFormat;
  /** See `FurtherFormat`. */
  compacts?: boolean | undefined;
  /** See `FurtherFormat`. */
  encrypts?: boolean | undefined;
  /** Changes a translated request into one that the provider accepts. The given object is not changed. */
  adapt: (request: JsonObject, model: ModelInfo) => JsonObject;
}

type Formats = Pick<Provider, 'format' | 'further' | 'rules' | 'adaptation'>;

/** The formats in which the provider serves a model, its main one first. The rules are for the main one only. */
export function servedFormats(provider: Formats, id: string): ServedFormat[] {
  const { format, further = [], rules, adaptation } = provider;
  const others = further.map((each) => ({ ...each, how: each.serves(id) })).filter(({ how }) => how !== 'not');
  const served = others.map(({ format: other, compacts, encrypts, adaptation: change }) => ({
    format: other,
    compacts,
    encrypts,
    adapt: (request: JsonObject, model: ModelInfo) => change?.apply(request, model) ?? request,
  }));
  if (others.some(({ how }) => how === 'only')) return served;
  const adapt = (request: JsonObject, model: ModelInfo): JsonObject => {
    const ruled = applyRules(request, rules);
    return adaptation?.apply(ruled, model) ?? ruled;
  };
  return [{ format, adapt }, ...served];
}

/** A translation and the format that it is to. */
export interface Chosen {
  translation: Translation;
  served: ServedFormat;
}

/**
 * Chooses how a model serves a client format: in the same format if the provider has it, otherwise in the first that there is a
 * translation to.
 * @param lacks names of formats whose path the provider does not have for the model; unless it has no other
 * @throws RouterError `internal` if there is none
 */
export function chooseFormat(
  provider: Formats,
  id: string,
  translations: readonly Translation[],
  client: string,
  lacks: (format: string) => boolean = () => false,
): Chosen {
  const formats = servedFormats(provider, id);
  const translated = formats.filter(({ format }) => clientFormatsOn(translations, format).includes(client));
  const there = translated.filter(({ format }) => !lacks(format.name));
  const can = there.length > 0 ? there : translated;
  const served = can.find(({ format }) => format.name === client) ?? can[0] ?? formats[0];
  const { format } = served ?? provider;
  return {
    translation: findTranslation(translations, client, format),
    served: served ?? { format, adapt: (as) => as },
  };
}

/** Names of the client formats that a provider can serve in any of its formats. */
export function clientFormatsOf({ format, further = [] }: Formats, translations: readonly Translation[]): string[] {
  const all = [format, ...further.map((each) => each.format)];
  return [...new Set(all.flatMap((each) => clientFormatsOn(translations, each)))];
}

/**
 * Finds what a provider's models do not take of the client formats' requests; the worker announces it. What a pair of formats refuses
 * is found out once.
 */
export function providerLacks(
  provider: Formats & Pick<Provider, 'takesFiles'>,
  translations: readonly Translation[],
): (id: string) => readonly string[] {
  const { takesFiles } = provider;
  const clients = clientFormatsOf(provider, translations);
  const found = new Map<Translation, readonly string[]>();
  const byModel = new Map<string, readonly string[]>();
  return (id) => {
    const known = byModel.get(id);
    if (known) return known;
    const formats = servedFormats(provider, id).map(({ format }) => format);
    const served = clients.filter((client) =>
      formats.some((each) => clientFormatsOn(translations, each).includes(client)),
    );
    const lacks = served.flatMap((client) => {
      const { translation } = chooseFormat(provider, id, translations, client);
      const these = found.get(translation) ?? lackedFeatures([translation], { model: 'any', takesFiles });
      found.set(translation, these);
      return these;
    });
    byModel.set(id, lacks);
    return lacks;
  };
}

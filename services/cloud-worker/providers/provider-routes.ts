import { RouterError } from '#shared/core/errors.ts';
import { findRefusedFeatures, findClientFormats, type Translation } from '#shared/translate/translation.ts';
import type { UpstreamRoute } from '#shared/upstream/request-writer.ts';
import type { Provider } from './provider.ts';
import { listServedFormats, type ProviderFormats, type ServedFormat } from './served-format.ts';

/** The translation of a client format into a format in which the provider serves a model. */
export interface ProviderRoute extends UpstreamRoute, ServedFormat {}

/** The routes of clients' requests to a provider. */
export class ProviderRoutes {
  readonly #provider: ProviderFormats;
  readonly #translations: readonly Translation[];
  /** Routes by model and client format. */
  readonly #routes = new Map<string, readonly ProviderRoute[]>();

  constructor(provider: ProviderFormats, translations: readonly Translation[]) {
    this.#provider = provider;
    this.#translations = translations;
  }

  /** Returns the routes for a model and a client format, the preferred first: the client's own format, then in the provider's order. */
  list(id: string, client: string): readonly ProviderRoute[] {
    const key = `${client} ${id}`;
    const cached = this.#routes.get(key);
    if (cached) return cached;
    const routes = listServedFormats(this.#provider, id)
      .flatMap((served) => {
        const { path } = served.format;
        const found = this.#translations.filter(
          (each) => each.client.name === client && each.upstream === served.format,
        );
        return found.map((translation) => ({ ...served, translation, path, passesHeaders: translation.passesHeaders }));
      })
      .toSorted((a, b) => Number(b.format.name === client) - Number(a.format.name === client));
    this.#routes.set(key, routes);
    return routes;
  }

  /**
   * Chooses the preferred route.
   * @param lacks returns whether the provider lacks the path of a format for the model; ignored if it returns true for all formats
   * @throws RouterError `internal` if there is no translation
   */
  choose(id: string, client: string, lacks: (format: string) => boolean): ProviderRoute {
    const routes = this.list(id, client);
    const available = routes.length > 1 ? routes.find(({ format }) => !lacks(format.name)) : undefined;
    const route = available ?? routes[0];
    if (!route) throw new RouterError('internal', `No translation from ${client} for ${id} is known here.`);
    return route;
  }
}

/** Returns the client formats that a provider can serve in at least one of its formats. */
export function listClientFormats(
  { format, otherFormats = [] }: ProviderFormats,
  translations: readonly Translation[],
): string[] {
  const formats = [format, ...otherFormats.map((each) => each.format)];
  return [...new Set(formats.flatMap((each) => findClientFormats(translations, each)))];
}

/**
 * Creates a function that returns the features of client requests that a model of the provider does not support. The worker announces
 * these features. The features of a pair of formats are computed once.
 */
export function createLackFinder(
  provider: ProviderFormats & Pick<Provider, 'takesFiles'>,
  translations: readonly Translation[],
): (id: string) => readonly string[] {
  const { takesFiles } = provider;
  const routes = new ProviderRoutes(provider, translations);
  const clientFormats = listClientFormats(provider, translations);
  const lacksByTranslation = new Map<Translation, readonly string[]>();
  const lacksByModel = new Map<string, readonly string[]>();
  return (id) => {
    const knownLacks = lacksByModel.get(id);
    if (knownLacks) return knownLacks;
    const preferred = clientFormats.flatMap((client) => routes.list(id, client).slice(0, 1));
    const lacks = preferred.flatMap(({ translation }) => {
      const translationLacks =
        lacksByTranslation.get(translation) ?? findRefusedFeatures([translation], { model: 'any', takesFiles });
      lacksByTranslation.set(translation, translationLacks);
      return translationLacks;
    });
    lacksByModel.set(id, lacks);
    return lacks;
  };
}

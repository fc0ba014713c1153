import type { JsonObject } from '#shared/core/json.ts';
import { findRefusedFeatures } from '#shared/translate/find-refused-features.ts';
import { findClientFormats, findTranslation, type Translation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import { engineChatFormat, engineFormats, type Engine } from './engines/engine.ts';

export interface EngineRoute {
  translation: Translation;
  format: HttpUpstreamFormat;
  /** Path from the engine's root. */
  path: string;
}

/**
 * Chooses the translation, format and path for a client's request to an engine.
 * @param client name of the client's format
 * @param request the client's request
 * @throws RouterError `internal` if no translation is known, which cannot happen to jobs of the formats that the worker announces
 */
export function chooseEngineRoute(
  { insertion }: Pick<Engine, 'insertion'>,
  translations: readonly Translation[],
  client: string,
  request: JsonObject,
): EngineRoute {
  const isServed = (format: HttpUpstreamFormat): boolean => findClientFormats(translations, format).includes(client);
  if (insertion && typeof request['suffix'] === 'string' && isServed(insertion.format)) {
    const { format, path } = insertion;
    return { translation: findTranslation(translations, client, format), format, path };
  }
  const format = engineFormats.find(isServed) ?? engineChatFormat;
  return { translation: findTranslation(translations, client, format), format, path: `/v1${format.path}` };
}

/** Returns the names of the client formats that engines can serve. The worker announces them. */
export function listClientFormats(translations: readonly Translation[]): string[] {
  return engineFormats.flatMap((format) => findClientFormats(translations, format));
}

/** Returns the features of client formats that the engine does not support. The worker announces them. */
export function findLackedFeatures(
  engine: Pick<Engine, 'insertion' | 'makesOneChoice'>,
  translations: readonly Translation[],
): string[] {
  const { makesOneChoice } = engine;
  const routes = listClientFormats(translations).map((client) => chooseEngineRoute(engine, translations, client, {}));
  return findRefusedFeatures(
    routes.map(({ translation }) => translation),
    { model: 'any', makesOneChoice },
  );
}

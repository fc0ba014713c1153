import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { findRefusedFeatures, findClientFormats, type Translation } from '#shared/translate/translation.ts';
import type { UpstreamRoute } from '#shared/upstream/request-writer.ts';
import { engineFormats, type Engine } from './engines/engine.ts';

/** The routes of clients' requests to an engine. Their paths begin at the root of the engine's address. */
export class EngineRoutes {
  /** Routes by the name of the client format. */
  readonly #usual: ReadonlyMap<string, UpstreamRoute>;
  /** Routes of text completions with a suffix, by the name of the client format. */
  readonly #insertions: ReadonlyMap<string, UpstreamRoute>;

  constructor({ insertion }: Pick<Engine, 'insertion'>, translations: readonly Translation[]) {
    const usual = engineFormats.map((format) => ({ format, path: `/v1${format.path}` }));
    this.#usual = createRoutes(usual, translations);
    this.#insertions = createRoutes(insertion ? [insertion] : [], translations);
  }

  /**
   * Returns the route at the engine's usual path for a client format. Requests with a suffix use it too, unless an insertion route exists.
   * @throws RouterError `internal` if there is no translation. A job's format is always one that the worker has announced, so this is a bug
   */
  findUsual(client: string): UpstreamRoute {
    const route = this.#usual.get(client);
    if (!route) throw new RouterError('internal', `No translation from ${client} is known here.`);
    return route;
  }

  /**
   * Chooses the route of a client's request.
   * @param client name of the client's format
   * @throws RouterError as `findUsual`
   */
  choose(client: string, request: JsonObject): UpstreamRoute {
    const insertion = typeof request['suffix'] === 'string' ? this.#insertions.get(client) : undefined;
    return insertion ?? this.findUsual(client);
  }
}

/** Creates a route for each client format. The route uses the first upstream format into which the client format is translated. */
function createRoutes(
  upstreams: readonly Pick<UpstreamRoute, 'format' | 'path'>[],
  translations: readonly Translation[],
): Map<string, UpstreamRoute> {
  const routes = new Map<string, UpstreamRoute>();
  for (const { format, path } of upstreams) {
    for (const translation of translations) {
      const { name } = translation.client;
      if (translation.upstream !== format || routes.has(name)) continue;
      routes.set(name, { translation, format, path, passesHeaders: false });
    }
  }
  return routes;
}

/** Returns the names of the client formats that engines can serve. The worker announces these names. */
export function listClientFormats(translations: readonly Translation[]): string[] {
  return engineFormats.flatMap((format) => findClientFormats(translations, format));
}

/** Returns the client-format features that the engine lacks. The worker announces these features. */
export function findLackedFeatures(
  engine: Pick<Engine, 'insertion' | 'makesOneChoice'>,
  translations: readonly Translation[],
): string[] {
  const { makesOneChoice } = engine;
  const routes = new EngineRoutes(engine, translations);
  return findRefusedFeatures(
    listClientFormats(translations).map((client) => routes.findUsual(client).translation),
    { model: 'any', makesOneChoice },
  );
}

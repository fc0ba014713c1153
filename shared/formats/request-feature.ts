import type { JsonObject } from '#shared/core/json.ts';

/**
 * A part of requests that not every upstream takes. A worker finds out from its own translators which of these they refuse (see
 * `lackedFeatures`), and announces them; `auto` then leaves it out for requests that have such a part.
 */
export interface RequestFeature<Request extends JsonObject = JsonObject> {
  /** Lower case, unique in its format. Workers of other releases know it by this name. */
  name: string;
  /** The fields of a small request that has it, and nothing else that could be refused. */
  example: Partial<Request>;
  /** @param parts see `RequestFeatures.partsOf` */
  isIn: (request: Request, parts: ReadonlySet<string>) => boolean;
}

/** The parts of one format's requests that not every upstream takes. */
export interface RequestFeatures<Request extends JsonObject = JsonObject> {
  /** The kinds of parts that the content of a request has, from one walk over it. */
  partsOf: (request: Request) => ReadonlySet<string>;
  all: readonly RequestFeature<Request>[];
}

/** Names of the features that a checked request has. */
export function featuresIn<Request extends JsonObject>(
  { partsOf, all }: RequestFeatures<Request>,
  request: Request,
): string[] {
  const parts = partsOf(request);
  return all.filter(({ isIn }) => isIn(request, parts)).map(({ name }) => name);
}

/** How a worker announces that it lacks a feature for requests of a client format. */
export function featureKey(name: string, format: string): string {
  return `${name}@${format}`;
}

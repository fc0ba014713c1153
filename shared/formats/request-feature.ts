import type { JsonObject } from '#shared/core/json.ts';

/**
 * A part of requests that not every upstream accepts. Each worker tries its translations with the examples, and announces the features that
 * the translations refuse (see `lackedFeatures`). `auto` then leaves the worker out for requests with such a part.
 */
export interface RequestFeature<Request extends JsonObject = JsonObject> {
  /** Lower case and unique in its format. Workers of other releases announce the feature by this name. */
  name: string;
  /** The fields of a small request with the feature and with nothing else that a translation could refuse. */
  example: Partial<Request>;
  /** @param parts see `RequestFeatures.collectParts` */
  isIn: (request: Request, parts: ReadonlySet<string>) => boolean;
}

export interface RequestFeatures<Request extends JsonObject = JsonObject> {
  /** Returns names of the kinds of parts in a request's content, collected in one pass. */
  collectParts: (request: Request) => ReadonlySet<string>;
  features: readonly RequestFeature<Request>[];
}

export function findFeatures<Request extends JsonObject>(
  { collectParts, features }: RequestFeatures<Request>,
  request: Request,
): string[] {
  const parts = collectParts(request);
  return features.filter(({ isIn }) => isIn(request, parts)).map(({ name }) => name);
}

/** Returns the key by which a worker announces that it lacks a feature for requests of a client format. */
export function featureKey(name: string, format: string): string {
  return `${name}@${format}`;
}

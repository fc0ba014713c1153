import { type JsonObject, isJsonObject, type Json } from '#shared/core/json.ts';

/**
 * A detail of requests that not every upstream accepts. Each worker tries its translations with the examples, and announces the features
 * that the translations refuse (see `findRefusedFeatures`). For a request with such a feature, `auto` then skips the worker.
 */
export interface RequestFeature<Request extends JsonObject = JsonObject> {
  /** Lower case and unique in its format. Workers of other releases announce the feature by this name. */
  name: string;
  /** The fields of a small request with this feature. A translation has no other reason to refuse the request. */
  example: Partial<Request>;
  /** @param marks see `RequestFeatures.collectMarks` */
  isIn: (request: Request, marks: ReadonlySet<string>) => boolean;
}

export interface RequestFeatures<Request extends JsonObject = JsonObject> {
  /** Returns a mark for each kind of content in a request (roles, types of parts, kinds of tool calls), collected in one pass. */
  collectMarks: (request: Request) => ReadonlySet<string>;
  features: readonly RequestFeature<Request>[];
}

export function findFeatures<Request extends JsonObject>(
  { collectMarks, features }: RequestFeatures<Request>,
  request: Request,
): string[] {
  const marks = collectMarks(request);
  return features.filter(({ isIn }) => isIn(request, marks)).map(({ name }) => name);
}

/** Returns the key by which a worker announces that it lacks a feature for requests of a client format. */
export function createFeatureKey(name: string, format: string): string {
  return `${name}@${format}`;
}

/** Whether a field requests something. A field that is absent, null, false, 0 or empty does not. */
export function requestsFeature(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return (
    isJsonObject(value) || (value !== undefined && value !== null && value !== false && value !== 0 && value !== '')
  );
}

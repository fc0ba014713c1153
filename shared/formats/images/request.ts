import type { JsonObject } from '#shared/core/json.ts';

/** A request for pictures, checked by `parseImagesRequest`: the fields that the router reads. */
export type ImagesRequest = JsonObject & {
  model?: string | null;
  prompt: string;
  /** Pictures; default 1. */
  n?: number | null;
  stream?: boolean | null;
};

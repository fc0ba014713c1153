import type { JsonObject } from '#shared/core/json.ts';

/** The fields of an image request that the router reads. `parseImagesRequest` checks them. */
export type ImagesRequest = JsonObject & {
  model?: string | null;
  prompt: string;
  /** Number of pictures; default 1. */
  n?: number | null;
  stream?: boolean | null;
};

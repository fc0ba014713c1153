import type { JsonObject } from '#shared/core/json.ts';

/** The fields of an image edit request that the router reads, as form texts. `parseImageEditsRequest` checks them. */
export type ImageEditsRequest = JsonObject & {
  model?: string;
  prompt: string;
  n?: string;
};

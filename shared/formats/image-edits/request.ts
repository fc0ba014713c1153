import type { JsonObject } from '#shared/core/json.ts';

/** A request to change pictures, checked by `parseImageEditsRequest`: the fields that the router reads, texts of a form. */
export type ImageEditsRequest = JsonObject & {
  model?: string;
  prompt: string;
  /** Pictures; default 1. */
  n?: string;
};

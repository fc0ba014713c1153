import type { JsonObject } from '#shared/core/json.ts';

export type ImagesRequest = JsonObject & {
  model?: string | null;
  prompt: string;
  n?: number | null;
  stream?: boolean | null;
};

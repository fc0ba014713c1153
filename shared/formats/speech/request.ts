import type { JsonObject } from '#shared/core/json.ts';

export type SpeechRequest = JsonObject & {
  model: string;
  input: string;
};

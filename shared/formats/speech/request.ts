import type { JsonObject } from '#shared/core/json.ts';

/** The fields of a speech request that the router reads. `parseSpeechRequest` checks them. */
export type SpeechRequest = JsonObject & {
  model: string;
  input: string;
};

import type { JsonObject } from '#shared/core/json.ts';

/** A request to speak a text, checked by `parseSpeechRequest`: the fields that the router reads. */
export type SpeechRequest = JsonObject & {
  model: string;
  input: string;
};

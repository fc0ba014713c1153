import type { FormFile } from '../form-file.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** A request to write down what is said, checked by `parseTranscriptionRequest`: the fields that the router reads. */
export type TranscriptionRequest = JsonObject & {
  model: string;
  file: FormFile & JsonObject;
  prompt?: string;
  response_format?: string;
};

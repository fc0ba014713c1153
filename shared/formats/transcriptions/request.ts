import type { FormFile } from '../form-file.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** The fields of a transcription request that the router reads. `parseTranscriptionRequest` checks them. */
export type TranscriptionRequest = JsonObject & {
  model: string;
  file: FormFile & JsonObject;
  prompt?: string;
  response_format?: string;
};

import { RouterError } from '#shared/core/errors.ts';
import type { StreamTranslation } from './translation.ts';

/** Replaces `Translation.stream` in formats without streamed answers. It always throws, because no client can request such a stream. */
export function neverStreamed(): StreamTranslation {
  throw new RouterError('internal', 'An answer in this format is never streamed.');
}

import { RouterError } from '#shared/core/errors.ts';
import type { StreamTranslation } from './translation.ts';

/** The `Translation.createStream` of formats without streamed answers. Always throws, because no client can request such a stream. */
export function refuseStream(): StreamTranslation {
  throw new RouterError('internal', 'An answer in this format is never streamed.');
}

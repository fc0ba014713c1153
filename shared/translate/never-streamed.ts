import { RouterError } from '#shared/core/errors.ts';
import type { StreamTranslation } from './translation.ts';

/** For formats whose answers are never streamed: no client can ask for it. */
export function neverStreamed(): StreamTranslation {
  throw new RouterError('internal', 'An answer in this format is never streamed.');
}

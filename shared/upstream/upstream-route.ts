import type { Translation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';

/** How requests of one client format reach an upstream. */
export interface UpstreamRoute {
  translation: Translation;
  format: HttpUpstreamFormat;
  /** Path below the base URL of the upstream's connections. */
  path: string;
  /** Whether headers pass: those of the job to the upstream, and those of the answer to the client. */
  passesHeaders: boolean;
}

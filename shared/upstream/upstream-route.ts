import type { Translation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';

/** The route of requests of one client format to an upstream. */
export interface UpstreamRoute {
  translation: Translation;
  format: HttpUpstreamFormat;
  /** Path below the base URL of the upstream's connections. */
  path: string;
  /** Whether the job's headers pass to the upstream, and the answer's headers to the client. */
  passesHeaders: boolean;
}

import { RouterError } from '#shared/core/errors.ts';
import type { FormatName } from '#shared/translate/translations.ts';

/**
 * The format of a job's client, for a worker that runs models.
 * @throws RouterError `internal` for a job of the tools
 */
export function formatOf(format: FormatName | 'tools'): FormatName {
  if (format === 'tools') throw new RouterError('internal', 'A tool was given to a worker that runs models.');
  return format;
}

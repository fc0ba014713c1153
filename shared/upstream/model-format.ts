import { RouterError } from '#shared/core/errors.ts';
import type { FormatName } from '#shared/translate/translations.ts';

/**
 * The format of a job's client, for a worker that runs models.
 * @throws RouterError `internal` for a format that the worker does not announce
 */
export function formatOf(format: string): FormatName {
  if (format === 'chat' || format === 'messages') return format;
  throw new RouterError('internal', `The worker does not answer in the format ${format}.`);
}

import { RouterError } from '#shared/core/errors.ts';
import type { ModelFamily } from '#shared/translate/translations.ts';

/**
 * The family of a job's client, for a worker that runs models.
 * @throws RouterError `internal` for a job of the tools
 */
export function modelFamily(family: ModelFamily | 'tools'): ModelFamily {
  if (family === 'tools') throw new RouterError('internal', 'A tool was given to a worker that runs models.');
  return family;
}

import { RouterError } from '#shared/core/errors.ts';

/** The error for a model that no worker and no registry entry knows. */
export function modelNotFound(model: string): RouterError {
  return new RouterError('model_not_found', `The model \`${model}\` does not exist or you do not have access to it.`, {
    param: 'model',
    details: { error_code: 'model_not_found', model },
  });
}

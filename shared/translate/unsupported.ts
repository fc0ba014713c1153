import { RouterError } from '#shared/core/errors.ts';

/** The error for a part of a chat request that the upstream cannot serve. */
export function unsupportedInChat(param: string, what: string): RouterError {
  return new RouterError(
    'unsupported_parameter',
    `Unsupported value for '${param}': the model that serves this request cannot take ${what}.`,
    { param },
  );
}

/** The error for a part of a messages request that the upstream cannot serve. */
export function unsupportedInMessages(param: string, what: string): RouterError {
  return new RouterError('unsupported_parameter', `${param}: the model that serves this request cannot take ${what}`, {
    param,
  });
}

import { RouterError } from '#shared/core/errors.ts';

/** The error for a part of a chat request that an upstream of the messages format cannot honour. */
export function unsupportedInChat(param: string, what: string): RouterError {
  return new RouterError(
    'unsupported_parameter',
    `Unsupported value for '${param}': the model that serves this request cannot take ${what}.`,
    { param },
  );
}

/** The error for a part of a messages request that an upstream of the chat format cannot honour. */
export function unsupportedInMessages(param: string, what: string): RouterError {
  return new RouterError('unsupported_parameter', `${param}: the model that serves this request cannot take ${what}`, {
    param,
  });
}

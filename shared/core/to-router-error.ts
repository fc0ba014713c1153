import { RouterError } from './errors.ts';

/**
 * Returns the error that a client receives for a thrown value. The client does not see the cause of an unexpected error.
 * @param message what the client reads about an unexpected error
 */
export function toRouterError(error: unknown, message = 'The router failed.'): RouterError {
  return error instanceof RouterError ? error : new RouterError('internal', message, { cause: error });
}

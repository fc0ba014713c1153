import { RouterError } from './errors.ts';

/** Creates the error of a request that a process refuses or ends because the process stops. */
export function createShuttingDownError(): RouterError {
  return new RouterError('shutting_down', 'The router is being restarted.', { retryAfter: 1 });
}

import { RouterError } from '#shared/core/errors.ts';

/** Returns the router's error that a function throws. */
export function refusalOf(attempt: () => unknown): RouterError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof RouterError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

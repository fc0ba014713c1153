import { RouterError } from './errors.ts';

export interface LoggableError {
  type: string;
  code?: string;
  message?: string;
  /** The stack's frames, without the message at its start. */
  stack?: string;
  cause?: LoggableError;
}

/** Maximum number of nested errors: an error, its cause, the cause of its cause, and so on. */
const maxDepth = 5;

/**
 * Extracts the parts of an error that may be logged: its type, code, stack and message. Leaves out a message that may quote a client or a
 * model:
 *
 * - the message of a parser, which quotes its input;
 * - the message of a refused request, which an upstream may have written;
 * - the message of any error with the property `quotesUpstream`.
 *
 * Drops a cause that is not an error, because it may be such a message, too.
 */
export function toLoggableError(error: unknown, depth = 0): LoggableError | undefined {
  if (!(error instanceof Error) || depth >= maxDepth) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const cause = toLoggableError(error.cause, depth + 1);
  const stack = error.stack
    ?.split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
  return {
    type: error.name,
    ...(code !== undefined && { code }),
    ...(!mayQuote(error) && { message: error.message }),
    ...(stack && { stack }),
    ...(cause && { cause }),
  };
}

function mayQuote(error: Error): boolean {
  if (error instanceof SyntaxError || 'quotesUpstream' in error) return true;
  return error instanceof RouterError && (error.code === 'invalid_request' || error.code === 'unsupported_parameter');
}

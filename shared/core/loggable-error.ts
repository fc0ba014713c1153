import { RouterError } from './errors.ts';

/** An error as log lines have it. */
export interface LoggableError {
  type: string;
  code?: string;
  message?: string;
  /** Where it was thrown, without the message that stands in front of an ordinary stack. */
  stack?: string;
  cause?: LoggableError;
}

/** Causes that are followed; what is behind is left out. */
const maxDepth = 5;

/**
 * What of an error may stand in a log: its kind, its code, where it comes from, and its message unless that may quote what
 * a client or a model said. A parser's message quotes what it could not parse; a request's refusal may be an upstream's
 * sentence, which may quote the request. A cause that is no error is such a sentence, and is left out.
 */
export function loggableError(error: unknown, depth = 0): LoggableError | undefined {
  if (!(error instanceof Error) || depth >= maxDepth) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const cause = loggableError(error.cause, depth + 1);
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
  if (error instanceof SyntaxError) return true;
  return error instanceof RouterError && (error.code === 'invalid_request' || error.code === 'unsupported_parameter');
}

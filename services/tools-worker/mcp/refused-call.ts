import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { RouterError } from '#shared/core/errors.ts';
import { createFailedOutput, type ToolOutput } from '../tool.ts';

/** Error code of a server that needs a client capability that the router lacks. */
const missingCapability: number = ProtocolErrorCode.MissingRequiredClientCapability;

/**
 * Converts a JSON-RPC error, or a request to the client, to tool output. A server sends these in place of a result. Returns undefined if
 * the server did not answer.
 */
export function toRefusedOutput(error: unknown): ToolOutput | undefined {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    const output = createFailedOutput(message);
    // The output omits the JSON-RPC error: it concerns a capability of the router, which the router's client may have.
    if (code === missingCapability) return output;
    return { ...output, error: { code, message, ...(data !== undefined && { data }) } };
  }
  if (!(error instanceof SdkError)) return undefined;
  const { method = '', resultType = '' } = Object(error.data) as { method?: string; resultType?: string };
  switch (error.code) {
    case SdkErrorCode.CapabilityNotSupported:
      return createFailedOutput(writeRefusal(method));
    case SdkErrorCode.InputRequiredRoundsExceeded:
      return createFailedOutput('The server asks for the call again and again, and gives no result.');
    case SdkErrorCode.UnsupportedResultType:
      return createFailedOutput(
        `The server answers with a result of the type '${resultType}', which the router does not take.`,
      );
    default:
      return undefined;
  }
}

/**
 * Writes the reason why the router, as the client of an MCP server, refuses a request of the server. The router has no model and no person
 * to ask. It cannot ask the caller of the tool either, because the caller may be an application.
 */
export function writeRefusal(method: string): string {
  return `The router does not answer ${describeMethod(method)}: it passes on calls, and has nobody to ask.`;
}

function describeMethod(method: string): string {
  switch (method) {
    case 'sampling/createMessage':
      return 'requests for an answer of a model (`sampling/createMessage`)';
    case 'elicitation/create':
      return 'questions to a person (`elicitation/create`)';
    default:
      return `\`${method}\` of MCP servers`;
  }
}

/**
 * Creates the error for a call or listing that a server did not answer. Only an error of the system or of the HTTP client can be its
 * cause, because the messages of other errors may quote the server, which may quote the person's token.
 * @param error the library's error
 */
export function createServerError(error: unknown, message: string, hadEffects = false): RouterError {
  return new RouterError('upstream_failed', message, { cause: findSystemError(error), hadEffects });
}

function findSystemError(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const isOfSystem = 'syscall' in error || ('code' in error && String(error.code).startsWith('UND_ERR_'));
  return isOfSystem ? error : findSystemError(error.cause);
}

import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { createFailedOutput, type ToolOutput } from '../tool.ts';
import { writeRefusal } from './refusal-text.ts';

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

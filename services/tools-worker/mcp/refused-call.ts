import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { createFailedOutput, type ToolOutput } from '../tool.ts';
import { writeRefusal } from './refusal-text.ts';

/** Error code of a server that needs a capability that the router lacks as the server's client. */
const missingCapability: number = ProtocolErrorCode.MissingRequiredClientCapability;

/**
 * Returns the tool output for a server's answer that is not a result, but a JSON-RPC error or a request to the client. Returns undefined if
 * the server did not answer.
 */
export function toRefusedOutput(error: unknown): ToolOutput | undefined {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    const output = createFailedOutput(message);
    // The output does not contain the JSON-RPC error, because the router lacks the capability, but the router's client may have it.
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

import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { failedOutput, type ToolOutput } from '../tool.ts';
import { refusalText } from './refusal-text.ts';

/** Error code of a server that needs a capability which the router lacks as its client. */
const missingCapability: number = ProtocolErrorCode.MissingRequiredClientCapability;

/**
 * Returns the tool output for a server's answer that is not a result, but a JSON-RPC error or a request to the client. Returns undefined if
 * the server did not answer.
 */
export function outputOfRefusal(error: unknown): ToolOutput | undefined {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    const output = failedOutput(message);
    // The output does not contain the JSON-RPC error, because the router lacks the capability, but its client may have it.
    if (code === missingCapability) return output;
    return { ...output, error: { code, message, ...(data !== undefined && { data }) } };
  }
  if (!(error instanceof SdkError)) return undefined;
  const { method = '', resultType = '' } = Object(error.data) as { method?: string; resultType?: string };
  switch (error.code) {
    case SdkErrorCode.CapabilityNotSupported:
      return failedOutput(refusalText(method));
    case SdkErrorCode.InputRequiredRoundsExceeded:
      return failedOutput('The server asks for the call again and again, and gives no result.');
    case SdkErrorCode.UnsupportedResultType:
      return failedOutput(
        `The server answers with a result of the type '${resultType}', which the router does not take.`,
      );
    default:
      return undefined;
  }
}

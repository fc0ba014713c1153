import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { failedOutput, type ToolOutput } from '../tool.ts';
import { refusalText } from './refusal-text.ts';

/** The error of a server that asks for what its client, the router, lacks. */
const missingCapability: number = ProtocolErrorCode.MissingRequiredClientCapability;

/** What an MCP server's answer says that is no result: its JSON-RPC error, or what it needs first. Undefined where it gave no answer. */
export function refusedCall(error: unknown): ToolOutput | undefined {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    const output = failedOutput(message);
    // What the router lacks, its client may have.
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

import { errorTable, type RouterError } from '#shared/core/errors.ts';
import { retryHeaders, type ErrorAnswer } from '../retry-headers.ts';

/** An error in the messages format's shape (Anthropic API reference, "Errors"). */
export interface MessagesErrorBody {
  type: 'error';
  error: { type: string; message: string; details?: NonNullable<RouterError['details']> };
  request_id: string;
}

/** The answer to a request that failed before anything of an answer was sent. */
export function messagesErrorAnswer(error: RouterError, requestId: string): ErrorAnswer<MessagesErrorBody> {
  const { messagesStatus } = errorTable[error.code];
  return {
    status: messagesStatus,
    headers: retryHeaders(error, messagesStatus),
    body: messagesErrorBody(error, requestId),
  };
}

/** The event that ends a stream which failed midway. */
export function messagesErrorEvent(error: RouterError, requestId: string): string {
  return `event: error\ndata: ${JSON.stringify(messagesErrorBody(error, requestId))}\n\n`;
}

function messagesErrorBody(error: RouterError, requestId: string): MessagesErrorBody {
  const { messagesType } = errorTable[error.code];
  return {
    type: 'error',
    error: { type: messagesType, message: messageText(error), ...(error.details && { details: error.details }) },
    request_id: requestId,
  };
}

/** The sentence; where clients of this format read the text itself, it is the one they know. */
function messageText(error: RouterError): string {
  switch (error.code) {
    case 'invalid_api_key':
      return 'invalid x-api-key';
    case 'model_not_found':
      return typeof error.details?.['model'] === 'string' ? `model: ${error.details['model']}` : error.message;
    case 'context_length_exceeded':
      return overflowText(error);
    default:
      return error.message;
  }
}

/** Claude Code shortens the conversation, or lowers max_tokens, by the numbers in these exact texts. */
function overflowText({ details, message }: RouterError): string {
  const input = details?.['input_tokens'];
  const output = details?.['output_tokens'];
  const maximum = details?.['maximum_tokens'];
  if (input === undefined || maximum === undefined) return `prompt is too long: ${message}`;
  if (output === undefined || Number(input) > Number(maximum)) {
    return `prompt is too long: ${String(input)} tokens > ${String(maximum)} maximum`;
  }
  return `input length and \`max_tokens\` exceed context limit: ${String(input)} + ${String(output)} > ${String(maximum)}`;
}

import { errorTable, type RouterError } from '#shared/core/errors.ts';
import { retryHeaders, type ErrorAnswer } from '../retry-headers.ts';

/** An error in the chat format's shape; clients rely on all four keys (OpenAI API reference, "Error codes"). */
export interface ChatErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** The answer to a request that failed before anything of an answer was sent. */
export function chatErrorAnswer(error: RouterError): ErrorAnswer<ChatErrorBody> {
  const { status } = errorTable[error.code];
  return { status, headers: retryHeaders(error, status), body: chatErrorBody(error) };
}

/** The event that ends a stream which failed midway: unnamed, because clients take a named one for a chunk. */
export function chatErrorEvent(error: RouterError): string {
  return `data: ${JSON.stringify(chatErrorBody(error))}\n\n`;
}

function chatErrorBody(error: RouterError): ChatErrorBody {
  const { chatType, chatCode } = errorTable[error.code];
  return { error: { message: error.message, type: chatType, param: error.param ?? null, code: chatCode } };
}

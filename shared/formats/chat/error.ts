import type { RouterError } from '#shared/core/errors.ts';
import { overflowIn, overflowText } from '../context-overflow.ts';
import { openaiErrorAnswer, openaiErrorBody, type OpenaiErrorBody } from '../openai/error.ts';
import type { ErrorAnswer } from '../retry-headers.ts';

/** The answer to a chat completion that failed before any of its answer was sent. */
export function chatErrorAnswer(error: RouterError): ErrorAnswer<OpenaiErrorBody> {
  return { ...openaiErrorAnswer(error), body: chatErrorBody(error) };
}

/** The body of an error of a chat completion. Of a context that is exceeded it speaks as OpenAI does, which clients read. */
export function chatErrorBody(error: RouterError): OpenaiErrorBody {
  const { code, details } = error;
  const overflow = overflowIn(details);
  if (!overflow) return openaiErrorBody(error);
  return openaiErrorBody({ code, message: overflowText(overflow, 'messages'), param: 'messages' });
}

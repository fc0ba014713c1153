import type { RouterError } from '#shared/core/errors.ts';
import { readOverflow, writeOverflowText } from '../context-overflow.ts';
import { createOpenaiErrorAnswer, createOpenaiErrorBody, type OpenaiErrorBody } from '../openai/error.ts';
import type { ErrorAnswer } from '../retry-headers.ts';

export function createChatErrorAnswer(error: RouterError): ErrorAnswer<OpenaiErrorBody> {
  return { ...createOpenaiErrorAnswer(error), body: createChatErrorBody(error) };
}

/** Returns the body of an error of a chat completion. For an exceeded context, the message has OpenAI's wording, which clients parse. */
export function createChatErrorBody(error: RouterError): OpenaiErrorBody {
  const { code, details } = error;
  const overflow = readOverflow(details);
  if (!overflow) return createOpenaiErrorBody(error);
  return createOpenaiErrorBody({ code, message: writeOverflowText(overflow, 'messages'), param: 'messages' });
}

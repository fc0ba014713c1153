import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import type { AnswerFormat } from '../client-format.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';

/** The answers of the tools API. Errors have the shape of the chat format. */
export const toolsFormat: AnswerFormat = {
  name: 'tools',
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

import { openaiErrorAnswer } from '../openai/error.ts';
import { openaiLimitHeaders } from '../openai/limit-headers.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import type { AnswerFormat } from '../client-format.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';

/** The answers of the tools API. Errors have the shape of the chat format. */
export const toolsFormat: AnswerFormat = {
  name: 'tools',
  errorAnswer: openaiErrorAnswer,
  limitHeaders: openaiLimitHeaders,
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

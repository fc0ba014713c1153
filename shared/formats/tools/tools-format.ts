import { chatErrorAnswer } from '../chat/error.ts';
import { chatLimitHeaders } from '../chat/limit-headers.ts';
import { chatStreamWords } from '../chat/stream-words.ts';
import type { AnswerFormat } from '../client-format.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';

/** The answers of the tools API. Its errors have the chat format's shape. */
export const toolsFormat: AnswerFormat = {
  name: 'tools',
  errorAnswer: chatErrorAnswer,
  limitHeaders: chatLimitHeaders,
  openStream: ({ requestId }) => new StatelessStream(chatStreamWords, requestId),
};

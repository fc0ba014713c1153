import { chatErrorAnswer } from '../chat/error.ts';
import { chatLimitHeaders } from '../chat/limit-headers.ts';
import { chatStreamWords } from '../chat/stream-words.ts';
import type { AnswerFormat } from '../client-format.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';

/** The tools API's answers. Its errors have the shape of the chat format's. */
export const toolsFormat: AnswerFormat = {
  name: 'tools',
  errorAnswer: chatErrorAnswer,
  limitHeaders: chatLimitHeaders,
  openStream: (requestId) => new StatelessStream(chatStreamWords, requestId),
};

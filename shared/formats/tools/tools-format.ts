import { chatErrorAnswer, chatErrorEvent } from '../chat/error.ts';
import { chatLimitHeaders } from '../chat/limit-headers.ts';
import { chatKeepAlive } from '../sse/encode.ts';
import type { EdgeFormat } from '../client-format.ts';

/** The tools API at the edge. Its errors have the chat family's shape. */
export const toolsFormat: EdgeFormat = {
  name: 'tools',
  errorAnswer: chatErrorAnswer,
  errorEvent: chatErrorEvent,
  keepAlive: chatKeepAlive,
  limitHeaders: chatLimitHeaders,
  tokensIn: () => 0,
};

import { chatErrorAnswer, chatErrorEvent } from '../chat/error.ts';
import { chatLimitHeaders } from '../chat/limit-headers.ts';
import { chatKeepAlive } from '../sse/encode.ts';
import type { ClientFormat } from '../client-format.ts';

/** The tools API at the edge. Its errors have the chat format's shape. */
export const toolsFormat: ClientFormat = {
  name: 'tools',
  errorAnswer: chatErrorAnswer,
  errorEvent: chatErrorEvent,
  keepAlive: chatKeepAlive,
  limitHeaders: chatLimitHeaders,
  tokensIn: () => 0,
};

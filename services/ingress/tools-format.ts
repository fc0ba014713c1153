import { chatErrorAnswer, chatErrorEvent } from '#shared/protocol/chat/error.ts';
import { chatLimitHeaders } from '#shared/protocol/chat/limit-headers.ts';
import { chatKeepAlive } from '#shared/protocol/sse/encode.ts';
import type { EdgeFormat } from './edge-family.ts';

/** The tools API at the edge. Its errors have the chat family's shape. */
export const toolsFormat: EdgeFormat = {
  name: 'tools',
  errorAnswer: chatErrorAnswer,
  errorEvent: chatErrorEvent,
  keepAlive: chatKeepAlive,
  limitHeaders: chatLimitHeaders,
  tokensIn: () => 0,
};

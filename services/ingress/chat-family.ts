import { chatErrorAnswer, chatErrorEvent } from '#shared/protocol/chat/error.ts';
import { chatLimitHeaders } from '#shared/protocol/chat/limit-headers.ts';
import { chatNeeds } from '#shared/protocol/chat/needs.ts';
import { parseChatRequest } from '#shared/protocol/chat/parse-chat-request.ts';
import { chatTokensIn } from '#shared/protocol/chat/tokens-in-stream.ts';
import { chatKeepAlive } from '#shared/protocol/sse/encode.ts';
import type { EdgeFamily } from './edge-family.ts';

/** OpenAI's chat completions at the edge. */
export const chatFamily: EdgeFamily = {
  name: 'chat',
  passedHeaders: ['openai-beta'],
  readWish(body) {
    const request = parseChatRequest(body);
    return {
      model: request.model,
      stream: request.stream === true,
      needs: chatNeeds(request),
      maxOutput: request.max_completion_tokens ?? request.max_tokens ?? undefined,
      serviceTier: typeof request['service_tier'] === 'string' ? request['service_tier'] : undefined,
    };
  },
  errorAnswer: chatErrorAnswer,
  errorEvent: chatErrorEvent,
  keepAlive: chatKeepAlive,
  limitHeaders: chatLimitHeaders,
  tokensIn: chatTokensIn,
};

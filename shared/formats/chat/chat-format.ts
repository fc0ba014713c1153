import { chatErrorAnswer, chatErrorEvent } from './error.ts';
import { chatLimitHeaders } from './limit-headers.ts';
import { chatNeeds } from './needs.ts';
import { parseChatRequest } from './parse-chat-request.ts';
import { chatTokensIn } from './tokens-in-stream.ts';
import { chatKeepAlive } from '../sse/encode.ts';
import type { ModelFormat } from '../client-format.ts';

/** OpenAI's chat completions at the edge. */
export const chatFormat: ModelFormat = {
  name: 'chat',
  passedHeaders: ['openai-beta'],
  readParameters(body) {
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

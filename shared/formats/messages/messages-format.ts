import { messagesErrorAnswer, messagesErrorEvent } from './error.ts';
import { messagesLimitHeaders } from './limit-headers.ts';
import { messagesNeeds } from './needs.ts';
import { parseCountTokensRequest, parseMessagesRequest } from './parse-messages-request.ts';
import { messagesTokensIn } from './tokens-in-stream.ts';
import { messagesKeepAlive } from '../sse/encode.ts';
import type { ModelFormat } from '../client-format.ts';

/** Anthropic's messages at the edge. */
export const messagesFormat: ModelFormat = {
  name: 'messages',
  passedHeaders: ['anthropic-version', 'anthropic-beta'],
  readParameters(body, operation) {
    const request = operation === 'count_tokens' ? parseCountTokensRequest(body) : parseMessagesRequest(body);
    return {
      model: request.model,
      stream: operation === 'generate' && request['stream'] === true,
      needs: messagesNeeds(request),
      maxOutput: typeof request['max_tokens'] === 'number' ? request['max_tokens'] : undefined,
      // This format's word says only whether spare capacity may be used, not how soon an answer is wanted.
      serviceTier: undefined,
    };
  },
  errorAnswer: messagesErrorAnswer,
  errorEvent: messagesErrorEvent,
  keepAlive: messagesKeepAlive,
  limitHeaders: messagesLimitHeaders,
  tokensIn: messagesTokensIn,
};

import type { JsonObject } from '#shared/core/json.ts';
import { anthropicApi } from '../apis/anthropic-api.ts';
import type { ClientFormat, ClientRoute, RequestParameters } from '../client-format.ts';
import { readJsonRequest } from '../json-request.ts';
import type { RequestFeatures } from '../request-feature.ts';
import { StatelessStream, type RelayedEventCounter, type StreamAdditions } from '../sse/streamed-answer.ts';
import { messagesAnswerHeaders, createMessagesLimitHeaders } from './headers.ts';
import { digestMessagesConversation, readMessagesSigns } from './signs.ts';
import { createMessagesErrorAnswer, messagesName, writeMessagesErrorEvent } from './error.ts';
import { messagesFeatures } from './features.ts';
import { messagesFileParts } from './file-parts.ts';
import { messagesFiles } from './messages-files.ts';
import { createMessagesHostedRequest } from './hosted/messages-hosted-answer.ts';
import { messagesMessageParts } from './message-parts.ts';
import { computeMessagesNeeds } from './needs.ts';
import { parseCountTokensRequest, parseMessagesRequest } from './parse-messages-request.ts';
import type { MessagesRequest } from './request.ts';
import { readRelayedMessage } from './read-relayed-message.ts';
import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { writeNamedEvent } from '../sse/encode.ts';

export const messagesFormat: ClientFormat = {
  name: messagesName,
  api: anthropicApi,
  routes: [
    { path: '/messages', operation: 'generate' },
    { path: '/messages/count_tokens', operation: 'count_tokens' },
  ],
  passedHeaders: ['anthropic-*', 'x-claude-code-*'],
  answerHeaders: messagesAnswerHeaders,
  answerIdPrefix: 'msg_',
  beginsWithUsage: true,
  read: (body, operation) =>
    readJsonRequest(
      body,
      (parsed) => toParameters(parsed, operation),
      messagesFileParts,
      (parsed) => createMessagesHostedRequest(parsed as MessagesRequest),
    ),
  countAnswer: (inputTokens) => ({ input_tokens: inputTokens }),
  estimateInput: (request: JsonObject) => computeMessagesNeeds(request as MessagesRequest).inputTokens,
  features: messagesFeatures as RequestFeatures,
  files: messagesFiles,
  readRelayed: readRelayedMessage,
  messageParts: messagesMessageParts,
  errorAnswer: createMessagesErrorAnswer,
  limitHeaders: createMessagesLimitHeaders,
  openStream: ({ requestId }) => new StatelessStream(messagesStreamAdditions, requestId),
};

/** Suffix that Claude Code adds to a model's name for a context window of a million tokens. */
const longContextSuffix = /\[1m\]$/i;

function removeContextSuffix(name: string): string {
  return name.replace(longContextSuffix, '');
}

function toParameters(body: unknown, operation: ClientRoute['operation']): RequestParameters {
  const isCount = operation === 'count_tokens';
  const request = isCount ? parseCountTokensRequest(body) : parseMessagesRequest(body);
  const model = removeContextSuffix(request.model);
  return {
    model,
    nameBehind: anthropicApi.nameBehind?.(model),
    stream: !isCount && request['stream'] === true,
    needs: computeMessagesNeeds(request),
    maxOutput: typeof request['max_tokens'] === 'number' ? request['max_tokens'] : undefined,
    // In this format, `service_tier` selects capacity at the vendor, not a priority.
    serviceTier: undefined,
    conversation: digestMessagesConversation(request),
    signs: isCount ? undefined : readMessagesSigns(request),
  };
}

export const messagesStreamAdditions: StreamAdditions = {
  keepAlive: writeNamedEvent('ping', '{"type":"ping"}'),
  errorEvent: writeMessagesErrorEvent,
  estimateTokens: estimateMessagesTokens,
  emptyBytes: () => deltaBytes,
};

/** Number of events before the first text: `message_start` and `content_block_start`. Both are larger than an empty delta. */
const headEvents = 2;

const blockStartBytes = 117;

/** Bytes of a `content_block_delta` event without its text. */
const deltaBytes = 115;

/** Estimates the tokens of the relayed part of a stream from the number of events and their bytes. */
function estimateMessagesTokens({ events, bytes, firstEventBytes }: RelayedEventCounter): number {
  const deltas = Math.max(0, events - headEvents);
  return estimateTokensOfPieces(deltas, bytes - firstEventBytes - blockStartBytes - deltas * deltaBytes);
}

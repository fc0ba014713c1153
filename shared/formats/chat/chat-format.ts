import { maxWholeBytes, type JsonText } from '#shared/core/json-text.ts';
import { type JsonObject, isJsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, RequestParameters } from '../client-format.ts';
import { readJsonRequest } from '../json-request.ts';
import type { RequestFeatures } from '../request-feature.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { digestChatConversation, readChatSigns } from './signs.ts';
import { openaiFiles } from '../openai/openai-files.ts';
import { createOpenaiLimitHeaders } from '../openai/openai-format.ts';
import { createChatErrorAnswer } from '../openai/error.ts';
import { chatFeatures } from './features.ts';
import { chatFileParts } from './file-parts.ts';
import { findListsToPass } from './find-lists-to-pass.ts';
import { chatMessageParts } from './message-parts.ts';
import { computeChatNeeds } from './needs.ts';
import { parseChatRequest } from './parse-chat-request.ts';
import type { ChatRequest } from './request.ts';
import { chatStreamAdditions } from './stream-additions.ts';
import { readRelayedChoice, RelayedAnswerBuilder, isEmptyField, type RelayedAnswer } from '../relayed-answer.ts';

export const chatFormat: ClientFormat = {
  name: 'chat',
  api: openaiApi,
  routes: [{ path: '/chat/completions', operation: 'generate' }],
  passedHeaders: ['openai-beta'],
  answerIdPrefix: 'chatcmpl-',
  read: (body) => readJsonRequest(body, toParameters, chatFileParts),
  estimateInput: (request: JsonObject) => computeChatNeeds(request as ChatRequest).inputTokens,
  features: chatFeatures as RequestFeatures,
  files: openaiFiles,
  readRelayed: readRelayedChat,
  messageParts: chatMessageParts,
  errorAnswer: createChatErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function toParameters(body: unknown, skim: JsonText['skim'], bytes: number): RequestParameters {
  const request = parseChatRequest(body, skim);
  const { service_tier: tier } = request;
  return {
    model: request.model,
    stream: request.stream === true,
    needs: computeChatNeeds(request),
    maxOutput: computeMaxOutput(request),
    serviceTier: tier === 'flex' || tier === 'priority' ? tier : undefined,
    conversation: digestChatConversation(request),
    signs: readChatSigns(request),
    unread: bytes > maxWholeBytes ? skim(() => findListsToPass(request)) : undefined,
  };
}

/** Returns the limit of output tokens for all choices together. The field of the request limits each choice by itself. */
function computeMaxOutput({ max_completion_tokens: newer, max_tokens: older, n }: ChatRequest): number | undefined {
  const choiceLimit = newer ?? older ?? undefined;
  return choiceLimit === undefined ? undefined : choiceLimit * (n ?? 1);
}

/**
 * Reads the chunks of a chat completion that has begun. A worker can continue the completion if all chunks are of one choice and contain
 * only text.
 * @returns see `ReadRelayed`
 */
function readRelayedChat(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedAnswerBuilder();
  for (const event of events) {
    const choice = readRelayedChoice(parts, event);
    if (typeof choice === 'string') return choice;
    const { role: _, content, ...otherFields } = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const unknownField = Object.keys(otherFields).find((field) => !isEmptyField(otherFields[field]));
    if (unknownField !== undefined) return `there is ${unknownField}`;
    if (typeof content === 'string') parts.pieces.push(content);
    else if (!isEmptyField(content)) return 'there is content of another kind';
  }
  return parts.build();
}

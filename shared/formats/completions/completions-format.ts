import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, RequestParameters } from '../client-format.ts';
import { digestConversation, type Conversation } from '../conversation.ts';
import { readJsonRequest } from '../json-request.ts';
import { openaiErrorAnswer } from '../openai/error.ts';
import { openaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { completionsMessageParts } from './message-parts.ts';
import { completionsNeeds } from './completions-needs.ts';
import { parseCompletionsRequest } from './parse-completions-request.ts';
import { listPrompts, type CompletionsRequest } from './request.ts';
import { completionsStreamAdditions } from './stream-words.ts';
import { readRelayedCompletion } from './read-relayed-completion.ts';

/**
 * A prompt identifies its text by this many characters at its start, because an editor sends the text before the cursor with every request.
 */
const startLength = 256;

/** OpenAI's older completions format: the model continues a text. Editors use it to complete code between a prompt and a suffix. */
export const completionsFormat: ClientFormat = {
  name: 'completions',
  api: openaiApi,
  routes: [{ path: '/completions', operation: 'complete' }],
  passedHeaders: [],
  answerIdPrefix: 'cmpl-',
  read: (body) => readJsonRequest(body, (parsed) => parametersOf(parseCompletionsRequest(parsed))),
  estimateInput: (request: JsonObject) => completionsNeeds(request as CompletionsRequest).inputTokens,
  readRelayed: readRelayedCompletion,
  messageParts: completionsMessageParts,
  errorAnswer: openaiErrorAnswer,
  limitHeaders: openaiLimitHeaders,
  openStream: ({ requestId }) => new StatelessStream(completionsStreamAdditions, requestId),
};

function parametersOf(request: CompletionsRequest): RequestParameters {
  return {
    model: request.model,
    stream: request.stream === true,
    needs: completionsNeeds(request),
    maxOutput: maxOutputOf(request),
    serviceTier: undefined,
    conversation: conversationOfText(request),
  };
}

/** Returns the limit of output tokens for all answers together, because the field of the request limits each answer by itself. */
function maxOutputOf({ prompt, max_tokens: each, n, best_of: tried }: CompletionsRequest): number | undefined {
  const answers = listPrompts(prompt).length * Math.max(n ?? 1, tried ?? 1);
  return each === undefined || each === null ? undefined : each * answers;
}

function conversationOfText({ prompt }: CompletionsRequest): Conversation | undefined {
  const [first] = listPrompts(prompt);
  return typeof first === 'string' ? digestConversation(undefined, [first.slice(0, startLength)]) : undefined;
}

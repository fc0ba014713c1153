import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, Needs, RequestParameters } from '../client-format.ts';
import { digestConversation, type Conversation } from '../conversation.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { estimateInputs, listInputs } from '../text-inputs.ts';
import { completionsMessageParts } from './message-parts.ts';
import { parseCompletionsRequest, type CompletionsRequest } from './parse-completions-request.ts';
import { completionsStreamAdditions } from './stream-additions.ts';
import { readRelayedCompletion } from './read-relayed-completion.ts';

/**
 * Number of characters at the start of a prompt that identify its conversation. Editors send the text before the cursor with every request,
 * so only the end of the prompt changes.
 */
const startLength = 256;

/** OpenAI's older completions format: the model continues a text. Editors use it to complete code between a prompt and a suffix. */
export const completionsFormat: ClientFormat = {
  name: 'completions',
  api: openaiApi,
  routes: [{ path: '/completions', operation: 'complete' }],
  passedHeaders: [],
  answerIdPrefix: 'cmpl-',
  read: (body) => readJsonRequest(body, (parsed) => toParameters(parseCompletionsRequest(parsed))),
  estimateInput: (request: JsonObject) => computeNeeds(request as CompletionsRequest).inputTokens,
  readRelayed: readRelayedCompletion,
  messageParts: completionsMessageParts,
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  openStream: ({ requestId }) => new StatelessStream(completionsStreamAdditions, requestId),
};

function toParameters(request: CompletionsRequest): RequestParameters {
  return {
    model: request.model,
    stream: request.stream === true,
    needs: computeNeeds(request),
    maxOutput: computeMaxOutput(request),
    serviceTier: undefined,
    conversation: digestPrompt(request),
  };
}

/** Returns the limit of output tokens for all answers together. The field of the request limits each answer by itself. */
function computeMaxOutput({
  prompt,
  max_tokens: answerLimit,
  n,
  best_of: bestOf,
}: CompletionsRequest): number | undefined {
  const answers = listInputs(prompt).length * Math.max(n ?? 1, bestOf ?? 1);
  return answerLimit === undefined || answerLimit === null ? undefined : answerLimit * answers;
}

function digestPrompt({ prompt }: CompletionsRequest): Conversation | undefined {
  const [first] = listInputs(prompt);
  return typeof first === 'string' ? digestConversation(undefined, [first.slice(0, startLength)]) : undefined;
}

function computeNeeds({ prompt, suffix }: CompletionsRequest): Needs {
  const inputs = estimateInputs(prompt, estimateTokens(suffix ?? ''));
  return { tools: false, vision: false, thinking: false, json: false, ...inputs };
}

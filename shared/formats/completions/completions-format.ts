import { type JsonObject, toTextOrEmpty, type Json } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, Needs, RequestParameters } from '../client-format.ts';
import { digestConversation, type Conversation } from '../request-signs.ts';
import { estimateTokens, estimateTokensOfPieces } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer, createOpenaiErrorBody } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/openai-format.ts';
import { StatelessStream, type RelayedEventCounter, type StreamAdditions } from '../sse/streamed-answer.ts';
import { estimateInputs, listInputs, type TextInputs } from '../text-inputs.ts';
import { z } from 'zod';
import { checkStreamOptions } from '../chat/parse-chat-request.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { arrayOf } from '../validation/loose-schema.ts';
import { readRelayedChoice, RelayedAnswerBuilder, type RelayedAnswer } from '../relayed-answer.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import { writeDataEvent } from '../sse/encode.ts';
import {
  filterObjects,
  removeEmptyMessages,
  toTextParts,
  type MessageParts,
  convertFinishReason,
} from '../message-parts.ts';

/**
 * Number of characters at the start of a prompt that identify its conversation. Editors send the text before the cursor with every request,
 * so only the end of the prompt changes.
 */
const startLength = 256;

/**
 * Converts the prompts and texts of completions to messages for traces: each prompt becomes a message. Leaves out prompts that are lists of
 * tokens, and the suffix.
 */
export const completionsMessageParts: MessageParts = {
  request: ({ prompt }) => {
    const prompts = Array.isArray(prompt) ? prompt : [prompt];
    return {
      instructions: [],
      messages: removeEmptyMessages(prompts.map((each) => ({ role: 'user', parts: toTextParts(each) }))),
    };
  },
  answer: ({ choices }) =>
    removeEmptyMessages(
      filterObjects(choices).map(({ text, finish_reason: reason }) => ({
        role: 'assistant',
        parts: toTextParts(text),
        finish_reason: convertFinishReason(reason),
      })),
    ),
  joinEvents: (events) => {
    const choices = new Map<Json | undefined, { text: string; finish_reason?: string }>();
    for (const { index, text, finish_reason: reason } of events.flatMap((event) => filterObjects(event['choices']))) {
      const choice = choices.get(index) ?? { text: '' };
      choices.set(index, choice);
      choice.text += toTextOrEmpty(text);
      if (typeof reason === 'string') choice.finish_reason = reason;
    }
    return { choices: [...choices.values()] };
  },
};

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

export type CompletionsRequest = JsonObject & {
  model: string;
  prompt: TextInputs;
  /** The text after the completion. Editors complete between prompt and suffix. */
  suffix?: string | null;
  max_tokens?: number | null;
  n?: number | null;
  best_of?: number | null;
  stream?: boolean | null;
  stream_options?: JsonObject | null;
  stop?: string | string[] | null;
};

const tokenList = arrayOf(z.int().min(0)).min(1);

/**
 * The fields of a text completion request that the router reads (OpenAI API reference, "Create completion", legacy). All other fields pass
 * unchecked. Optional fields may be null, as in OpenAI's API.
 */
const schema = z.looseObject({
  model: z.string().min(1),
  prompt: z.union([z.string(), tokenList, arrayOf(z.union([z.string(), tokenList])).min(1)]),
  suffix: z.string().nullish(),
  max_tokens: z.int().min(0).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().nullish(),
  n: z.int().min(1).nullish(),
  best_of: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({}).nullish(),
  stop: z.union([z.string(), arrayOf(z.string()).max(64)]).nullish(),
  echo: z.boolean().nullish(),
});

/**
 * Checks the body of a text completion request and returns the same object.
 * @throws RouterError `missing_parameter` or `invalid_request`; `param` is the field's path
 */
function parseCompletionsRequest(body: unknown): CompletionsRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  const request = body as CompletionsRequest;
  checkStreamOptions(request);
  return request;
}

/**
 * Reads the chunks of a text completion that has begun. A worker can continue the completion if all chunks are of one choice.
 * @returns see `ReadRelayed`
 */
function readRelayedCompletion(events: readonly JsonObject[]): RelayedAnswer | string {
  const parts = new RelayedAnswerBuilder();
  for (const event of events) {
    const choice = readRelayedChoice(parts, event);
    if (typeof choice === 'string') return choice;
    if (typeof choice['text'] === 'string') parts.pieces.push(choice['text']);
  }
  return parts.build();
}

/** The router's additions to a stream of text completions. Errors and token estimates differ from the chat format. */
const completionsStreamAdditions: StreamAdditions = {
  ...chatStreamAdditions,
  errorEvent: (error) => writeDataEvent(JSON.stringify(createOpenaiErrorBody(error))),
  estimateTokens: estimateCompletionsTokens,
  emptyBytes: estimateEmptyEventBytes,
};

/** Approximate bytes of the text in the first event. */
const firstTextBytes = 4;

/** Estimates the tokens of the relayed part of a stream from its events and their bytes. Each event has some text. */
function estimateCompletionsTokens({ events, bytes, firstEventBytes }: RelayedEventCounter): number {
  return estimateTokensOfPieces(events, bytes - events * estimateEmptyEventBytes(firstEventBytes));
}

function estimateEmptyEventBytes(firstEventBytes: number): number {
  return Math.max(0, firstEventBytes - firstTextBytes);
}

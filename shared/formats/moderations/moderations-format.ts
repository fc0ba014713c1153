import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import { autoModel, type ClientFormat, type Needs, type RequestParameters } from '../client-format.ts';
import { estimateTokens, imageTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { z } from 'zod';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { arrayOf, openUnion } from '../validation/loose-schema.ts';

/** OpenAI's moderations format: the model judges texts and images by categories of harm. */
export const moderationsFormat: ClientFormat = {
  name: 'moderations',
  api: openaiApi,
  routes: [{ path: '/moderations', operation: 'moderate' }],
  passedHeaders: [],
  answerIdPrefix: 'modr-',
  read: (body) => readJsonRequest(body, (parsed) => toParameters(parseModerationsRequest(parsed))),
  estimateInput: (request: JsonObject) => computeNeeds(request as ModerationsRequest).inputTokens,
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  // Answers are never streamed. The type requires the function, so the additions of the chat format are used.
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function toParameters(request: ModerationsRequest): RequestParameters {
  return {
    model: request.model ?? autoModel,
    stream: false,
    needs: computeNeeds(request),
    maxOutput: 0,
    serviceTier: undefined,
    conversation: undefined,
  };
}

function computeNeeds({ input }: ModerationsRequest): Needs {
  const inputs = typeof input === 'string' ? [input] : input;
  let inputTokens = 0;
  let longestText = 0;
  for (const part of inputs) {
    const tokens = typeof part === 'string' ? estimateTokens(part) : estimatePartTokens(part);
    inputTokens += tokens;
    longestText = Math.max(longestText, tokens);
  }
  // Texts are judged one by one, the parts of one input together.
  const longestInput = inputs.every((part) => typeof part === 'string') ? longestText : inputTokens;
  return { tools: false, vision: false, thinking: false, json: false, inputTokens, longestInput };
}

function estimatePartTokens({ type, text }: { type: string; text?: string }): number {
  return type === 'text' ? estimateTokens(text ?? '') : imageTokens;
}

/** An input to judge. Inputs of unknown types reach the upstream unchanged. */
export type ModerationsPart = JsonObject & { type: string; text?: string };

type ModerationsRequest = JsonObject & {
  model?: string | null;
  input: string | string[] | ModerationsPart[];
};

const part = openUnion('type', {
  text: z.looseObject({ text: z.string() }),
  image_url: z.looseObject({ image_url: z.looseObject({ url: z.string() }) }),
});

/** The fields of a moderation request that the router reads (OpenAI API reference, "Create moderation"). */
const schema = z.looseObject({
  model: z.string().min(1).nullish(),
  input: z.union([z.string().min(1), arrayOf(z.union([z.string().min(1), part])).min(1)]),
});

/**
 * Checks the body of a moderation request and returns the same object.
 * @throws RouterError `missing_parameter` or `invalid_request`; `param` is the field's path
 */
function parseModerationsRequest(body: unknown): ModerationsRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  return body as ModerationsRequest;
}

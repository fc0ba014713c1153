import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import type { ClientFormat, Needs, RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { PlainStream } from '../sse/streamed-answer.ts';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';

/** OpenAI's speech format: the model reads a text aloud. The router relays the sound as it arrives. */
export const speechFormat: ClientFormat = {
  name: 'speech',
  api: openaiApi,
  routes: [{ path: '/audio/speech', operation: 'speak' }],
  passedHeaders: [],
  answerIdPrefix: 'speech-',
  read: (body) => readJsonRequest(body, (parsed) => toParameters(parseSpeechRequest(parsed))),
  estimateInput: (request: JsonObject) => computeNeeds(request as SpeechRequest).inputTokens,
  errorAnswer: createOpenaiErrorAnswer,
  answerHeaders: ['content-type'],
  limitHeaders: createOpenaiLimitHeaders,
  openStream: () => new PlainStream(),
};

function toParameters(request: SpeechRequest): RequestParameters {
  return {
    model: request.model,
    stream: true,
    needs: computeNeeds(request),
    maxOutput: 0,
    units: { characters: countCharacters(request) },
    serviceTier: undefined,
    conversation: undefined,
  };
}

export function countCharacters({ input }: SpeechRequest): number {
  return Array.from(input).length;
}

function computeNeeds({ input }: SpeechRequest): Needs {
  return { tools: false, vision: false, thinking: false, json: false, inputTokens: estimateTokens(input) };
}

export type SpeechRequest = JsonObject & {
  model: string;
  input: string;
};

/** The fields of a speech request that the router reads (OpenAI API reference, "Create speech"). All other fields pass unchecked. */
const schema = z.looseObject({
  model: z.string().min(1),
  input: z.string().min(1),
  voice: z.union([z.string().min(1), z.looseObject({})]).nullish(),
  response_format: z.string().nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  stream_format: z.string().nullish(),
});

/**
 * Checks the body of a speech request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's path
 */
function parseSpeechRequest(body: unknown): SpeechRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  if (parsed.data.stream_format === 'sse')
    throw new RouterError('unsupported_parameter', "Unsupported value for 'stream_format': sound comes as bytes.", {
      param: 'stream_format',
    });
  return body as SpeechRequest;
}

import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import { autoModel, type ClientFormat, type Needs, type RequestParameters } from '../client-format.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';

/** Tokens to reserve for one picture: the maximum of OpenAI's models, for a large picture of high quality (guide "Image generation"). */
export const tokensPerPicture = 6240;

/** OpenAI's images format: the model draws pictures from a text. */
export const imagesFormat: ClientFormat = {
  name: 'images',
  api: openaiApi,
  routes: [{ path: '/images/generations', operation: 'draw' }],
  passedHeaders: [],
  answerIdPrefix: 'img-',
  read: (body) => readJsonRequest(body, (parsed) => toParameters(parseImagesRequest(parsed))),
  estimateInput: (request: JsonObject) => computeNeeds(request as ImagesRequest).inputTokens,
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  // Answers are never streamed. The type requires the function, so the additions of the chat format are used.
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function toParameters(request: ImagesRequest): RequestParameters {
  return {
    model: request.model ?? autoModel,
    stream: false,
    needs: computeNeeds(request),
    maxOutput: (request.n ?? 1) * tokensPerPicture,
    units: { images: request.n ?? 1 },
    serviceTier: undefined,
    conversation: undefined,
  };
}

function computeNeeds({ prompt }: ImagesRequest): Needs {
  return { tools: false, vision: false, thinking: false, json: false, inputTokens: estimateTokens(prompt) };
}

type ImagesRequest = JsonObject & {
  model?: string | null;
  prompt: string;
  n?: number | null;
  stream?: boolean | null;
};

/** The fields of an image request that the router reads (OpenAI API reference, "Create image"). All other fields pass unchecked. */
const schema = z.looseObject({
  model: z.string().min(1).nullish(),
  prompt: z.string().min(1),
  n: z.int().min(1).max(10).nullish(),
  stream: z.boolean().nullish(),
});

/**
 * Checks the body of an image request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's path
 */
function parseImagesRequest(body: unknown): ImagesRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  if (parsed.data.stream === true)
    throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': pictures come whole.", {
      param: 'stream',
    });
  return body as ImagesRequest;
}

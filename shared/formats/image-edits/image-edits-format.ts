import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import { autoModel, type ClientFormat, type Needs, type RequestParameters } from '../client-format.ts';
import { estimateTokens, imageTokens } from '../estimate-tokens.ts';
import { readJsonRequest, formFileSchema } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { tokensPerPicture } from '../images/images-format.ts';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';

/** OpenAI's image edits format: the model draws pictures from other pictures and a text. The request is a form. */
export const imageEditsFormat: ClientFormat = {
  name: 'image-edits',
  api: openaiApi,
  routes: [{ path: '/images/edits', operation: 'redraw', isForm: true }],
  passedHeaders: [],
  answerIdPrefix: 'img-',
  read: (body) => readJsonRequest(body, (parsed, skim) => toParameters(skim(() => parseImageEditsRequest(parsed)))),
  estimateInput: (request: JsonObject) => computeNeeds(request as ImageEditsRequest).inputTokens,
  errorAnswer: createOpenaiErrorAnswer,
  limitHeaders: createOpenaiLimitHeaders,
  // Answers are never streamed. The type requires the function, so the additions of the chat format are used.
  openStream: ({ requestId }) => new StatelessStream(chatStreamAdditions, requestId),
};

function toParameters(request: ImageEditsRequest): RequestParameters {
  const pictures = Number(request.n ?? 1);
  return {
    model: request.model ?? autoModel,
    stream: false,
    needs: computeNeeds(request),
    maxOutput: pictures * tokensPerPicture,
    units: { images: pictures },
    serviceTier: undefined,
    conversation: undefined,
  };
}

function computeNeeds({ prompt, 'image[]': images }: ImageEditsRequest): Needs {
  const inputTokens = estimateTokens(prompt) + imageTokens * (Array.isArray(images) ? images.length : 1);
  return { tools: false, vision: false, thinking: false, json: false, inputTokens };
}

/** The fields of an image edit request that the router reads, as form texts. `parseImageEditsRequest` checks them. */
type ImageEditsRequest = JsonObject & {
  model?: string;
  prompt: string;
  n?: string;
};

/**
 * The fields of an image edit request that the router reads (OpenAI API reference, "Create image edit"). All other fields pass unchecked.
 */
const schema = z.looseObject({
  model: z.string().min(1).optional(),
  image: formFileSchema.optional(),
  'image[]': z.array(formFileSchema).min(1).optional(),
  mask: formFileSchema.optional(),
  prompt: z.string().min(1),
  n: z.enum(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']).optional(),
  stream: z.string().optional(),
});

/**
 * Checks the form fields of an image edit request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's name
 */
function parseImageEditsRequest(body: unknown): ImageEditsRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  const { image, 'image[]': images, stream } = parsed.data;
  if (!image && !images)
    throw new RouterError('missing_parameter', "Missing required parameter: 'image'.", { param: 'image' });
  if (stream === 'true')
    throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': pictures come whole.", {
      param: 'stream',
    });
  return body as ImageEditsRequest;
}

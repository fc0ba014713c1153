import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import { autoModel, type ClientFormat, type Needs, type RequestParameters } from '../client-format.ts';
import { estimateTokens, imageTokens } from '../estimate-tokens.ts';
import { readJsonRequest } from '../json-request.ts';
import { createOpenaiErrorAnswer } from '../openai/error.ts';
import { createOpenaiLimitHeaders } from '../openai/limit-headers.ts';
import { StatelessStream } from '../sse/streamed-answer.ts';
import { tokensPerPicture } from '../images/images-format.ts';
import { parseImageEditsRequest, type ImageEditsRequest } from './parse-image-edits-request.ts';

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

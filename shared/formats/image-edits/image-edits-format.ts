import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import { estimateTokens, imageTokens } from '../estimate-tokens.ts';
import { tokensPerPicture } from '../images/images-format.ts';
import { formFileSchema } from '../json-request.ts';
import { createEventlessFormat } from '../openai/openai-format.ts';

/** The fields of an image edit request that the router reads, as form texts. */
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

/** OpenAI's image edits format: the model draws pictures from other pictures and a text. The request is a form. */
export const imageEditsFormat = createEventlessFormat<ImageEditsRequest>({
  name: 'image-edits',
  routes: [{ path: '/images/edits', operation: 'redraw', isForm: true }],
  answerIdPrefix: 'img-',
  schema,
  check: ({ image, 'image[]': images, stream }) => {
    if (!image && !images)
      throw new RouterError('missing_parameter', "Missing required parameter: 'image'.", { param: 'image' });
    if (stream === 'true')
      throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': pictures come whole.", {
        param: 'stream',
      });
  },
  estimateInput: ({ prompt, 'image[]': images }) => ({
    inputTokens: estimateTokens(prompt) + imageTokens * (Array.isArray(images) ? images.length : 1),
  }),
  readParameters: ({ n }) => ({ maxOutput: Number(n ?? 1) * tokensPerPicture, units: { images: Number(n ?? 1) } }),
});

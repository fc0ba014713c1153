import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { createEventlessFormat } from '../openai/openai-format.ts';

/** Tokens to reserve for one picture: the maximum of OpenAI's models, for a large picture of high quality (guide "Image generation"). */
export const tokensPerPicture = 6240;

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

/** OpenAI's images format: the model draws pictures from a text. */
export const imagesFormat = createEventlessFormat<ImagesRequest>({
  name: 'images',
  routes: [{ path: '/images/generations', operation: 'draw' }],
  answerIdPrefix: 'img-',
  schema,
  check: ({ stream }) => {
    if (stream === true)
      throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': pictures come whole.", {
        param: 'stream',
      });
  },
  estimateInput: ({ prompt }) => ({ inputTokens: estimateTokens(prompt) }),
  readParameters: ({ n }) => ({ maxOutput: (n ?? 1) * tokensPerPicture, units: { images: n ?? 1 } }),
});

import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { createEventlessFormat } from '../openai/openai-format.ts';

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

/** OpenAI's speech format: the model reads a text aloud. The router relays the sound as it arrives. */
export const speechFormat = createEventlessFormat<SpeechRequest>({
  name: 'speech',
  routes: [{ path: '/audio/speech', operation: 'speak' }],
  answerIdPrefix: 'speech-',
  schema,
  check: ({ stream_format: format }) => {
    if (format === 'sse')
      throw new RouterError('unsupported_parameter', "Unsupported value for 'stream_format': sound comes as bytes.", {
        param: 'stream_format',
      });
  },
  estimateInput: ({ input }) => ({ inputTokens: estimateTokens(input) }),
  readParameters: (request) => ({ stream: true, units: { characters: countCharacters(request) } }),
  sendsBytes: true,
});

export function countCharacters({ input }: SpeechRequest): number {
  return Array.from(input).length;
}

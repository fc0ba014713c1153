import { z } from 'zod';

const tokens = z.array(z.int().min(0));

/** The fields of a text completion request that the demo engine reads. It ignores other fields. */
export const completionRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.union([z.string(), z.array(z.string()), tokens, z.array(tokens)]),
  suffix: z.string().nullish(),
  max_tokens: z.int().min(1).nullish(),
  n: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  /** Checked by `resolveDemoOptions`. */
  demo: z.unknown().optional(),
});

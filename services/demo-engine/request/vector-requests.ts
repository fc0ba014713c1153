import { z } from 'zod';

const tokens = z.array(z.int().min(0));

/** The fields of an embeddings request that the demo engine reads. It ignores other fields. */
export const embeddingsRequestSchema = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()), tokens, z.array(tokens)]),
  dimensions: z.int().min(1).max(4096).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  /** Checked by `resolveDemoOptions`. */
  demo: z.unknown().optional(),
});

/** The fields of a moderation request that the demo engine reads. The engine does not judge images. */
export const moderationsRequestSchema = z.looseObject({
  model: z.string(),
  input: z.union([
    z.string(),
    z.array(z.string()),
    z.array(z.looseObject({ type: z.string(), text: z.string().nullish() })),
  ]),
  demo: z.unknown().optional(),
});

/** The fields of a rerank request that the demo engine reads. It ignores other fields. */
export const rerankRequestSchema = z.looseObject({
  model: z.string(),
  query: z.string(),
  documents: z.array(z.string()),
  top_n: z.int().min(1).nullish(),
  demo: z.unknown().optional(),
});

import { z } from 'zod';

const tokens = z.array(z.int().min(0));

/** Fields that the demo engine reads in a request for embeddings; others are ignored. */
export const embeddingsRequestSchema = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()), tokens, z.array(tokens)]),
  dimensions: z.int().min(1).max(4096).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  /** Checked by `resolveDemoOptions`. */
  demo: z.unknown().optional(),
});

/** Fields that the demo engine reads in a request to moderate texts; images are not judged. */
export const moderationsRequestSchema = z.looseObject({
  model: z.string(),
  input: z.union([
    z.string(),
    z.array(z.string()),
    z.array(z.looseObject({ type: z.string(), text: z.string().nullish() })),
  ]),
  demo: z.unknown().optional(),
});

/** Fields that the demo engine reads in a request to rank documents. */
export const rerankRequestSchema = z.looseObject({
  model: z.string(),
  query: z.string(),
  documents: z.array(z.string()),
  top_n: z.int().min(1).nullish(),
  demo: z.unknown().optional(),
});

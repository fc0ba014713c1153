import { z } from 'zod';

/**
 * A file of a form. The router reads a form as a JSON object of its fields. A file becomes this object, and any other field becomes a text.
 * A field whose name ends with `[]` becomes a list of texts.
 */
export const formFileSchema = z.object({
  name: z.string(),
  type: z.string(),
  bytes: z.int().min(1),
  /** The first 66 bytes at most, in base64. */
  start: z.string(),
  /** The whole content in base64. */
  data: z.string(),
});

export type FormFile = z.infer<typeof formFileSchema>;

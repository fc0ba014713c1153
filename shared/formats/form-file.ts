import { z } from 'zod';

/**
 * A form with a file, as requests are read from it: a JSON object of its fields, in which the file is an object. Fields of a form are
 * texts; one whose name ends with `[]` is a list of texts.
 */
export const formFileSchema = z.object({
  name: z.string(),
  /** Its media type. */
  type: z.string(),
  bytes: z.int().min(1),
  /** Its first bytes, at most 66, in base64. */
  start: z.string(),
  /** All of it in base64. */
  data: z.string(),
});

export type FormFile = z.infer<typeof formFileSchema>;

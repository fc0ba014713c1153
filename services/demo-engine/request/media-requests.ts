import { z } from 'zod';

/** The fields of a request for pictures that the demo engine reads; others are ignored. */
export const imagesRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  n: z.int().min(1).max(10).nullish(),
  /** `256x256`, for example: pictures are square. Any other text is that of a small one. */
  size: z.string().nullish(),
  /** Checked by `resolveDemoOptions`. */
  demo: z.unknown().optional(),
});

/** The fields of a request to change pictures that the demo engine reads. All of them are texts of a form. */
export const imageEditsRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  n: z.string().optional(),
});

/** The fields of a request to write down what is said that the demo engine reads. All of them are texts of a form. */
export const transcriptionRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string().optional(),
  response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt']).optional(),
});

/** The fields of a request to speak a text that the demo engine reads; it has one voice and speaks in WAV. */
export const speechRequestSchema = z.looseObject({
  model: z.string(),
  input: z.string(),
  demo: z.unknown().optional(),
});

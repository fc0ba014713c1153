import { z } from 'zod';

/** The fields of an image request that the demo engine reads. It ignores other fields. */
export const imagesRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  n: z.int().min(1).max(10).nullish(),
  /** The size of a square, such as `256x256`. Any other text gives a small picture. */
  size: z.string().nullish(),
  /** Checked by `resolveDemoOptions`. */
  demo: z.unknown().optional(),
});

/** The fields of an image edit request that the demo engine reads. All of these fields are texts in a form. */
export const imageEditsRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  n: z.string().optional(),
});

/** The fields of a transcription or translation request that the demo engine reads. All of these fields are texts in a form. */
export const transcriptionRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string().optional(),
  response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt']).optional(),
});

/** The fields of a speech request that the demo engine reads. The engine has one voice, and produces WAV. */
export const speechRequestSchema = z.looseObject({
  model: z.string(),
  input: z.string(),
  demo: z.unknown().optional(),
});

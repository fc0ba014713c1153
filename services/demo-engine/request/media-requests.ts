import { z } from 'zod';

/** Fields that the demo engine reads in a request for pictures; others are ignored. */
export const imagesRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  n: z.int().min(1).max(10).nullish(),
  /** Such as `256x256`: pictures are square. Any other text gives a small picture. */
  size: z.string().nullish(),
  /** Checked by `resolveDemoOptions`. */
  demo: z.unknown().optional(),
});

/** Fields that the demo engine reads in a request to change pictures. All of them are texts of a form. */
export const imageEditsRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  n: z.string().optional(),
});

/** Fields that the demo engine reads in a request to transcribe or translate sound. All of them are texts of a form. */
export const transcriptionRequestSchema = z.looseObject({
  model: z.string(),
  prompt: z.string().optional(),
  response_format: z.enum(['json', 'text', 'srt', 'verbose_json', 'vtt']).optional(),
});

/** Fields that the demo engine reads in a request for speech; it has one voice and produces WAV. */
export const speechRequestSchema = z.looseObject({
  model: z.string(),
  input: z.string(),
  demo: z.unknown().optional(),
});

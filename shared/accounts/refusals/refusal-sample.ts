import { z } from 'zod';

/** What is kept of a single refusal. Names of people and keys are not among it: they are looked up when it is read. */
export const refusalSampleSchema = z.object({
  /** ms since 1970 */
  at: z.number(),
  /** The id of the request. */
  id: z.string(),
  /** Of the error table, and its HTTP status there. */
  code: z.string(),
  status: z.number(),
  /** The id of a key; absent where the request named none that is known. */
  key: z.string().optional(),
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).optional(),
  /** What it asked for; absent where that was not read, or does not look like a name. */
  model: z.string().optional(),
  /** The error's sentence, see `ownSentence`. */
  message: z.string().optional(),
});

export type RefusalSample = z.infer<typeof refusalSampleSchema>;

/**
 * The streams of samples, each with the most that it keeps. Requests without a known key have one of their own, so that they cannot
 * displace the others.
 */
export const sampleStreams = { 'samples-of-keys': 200, 'samples-of-nobody': 50 } as const;
export type SampleStream = keyof typeof sampleStreams;

/** Milliseconds for which samples are kept. */
export const samplesKeptMs = 30 * 86_400_000;

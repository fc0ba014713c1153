import { z } from 'zod';

/** The stored sample of a refusal. It has no names of people and keys: they are looked up when it is read. */
export const refusalSampleSchema = z.object({
  /** ms since 1970 */
  at: z.number(),
  id: z.string(),
  /** The error code, and its HTTP status in the error table. */
  code: z.string(),
  status: z.number(),
  /** Id of the key; absent if the request had no known one. */
  key: z.string().optional(),
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).optional(),
  /** The requested model or tool; absent if it was not read, or does not look like a name. */
  model: z.string().optional(),
  /** The message of the error, see `safeMessage`. */
  message: z.string().optional(),
});

export type RefusalSample = z.infer<typeof refusalSampleSchema>;

/**
 * The streams of samples, each with its maximum. Requests without a known key have a stream of their own, so that they cannot displace the
 * others.
 */
export const sampleStreams = { 'samples-of-keys': 200, 'samples-of-nobody': 50 } as const;
export type SampleStream = keyof typeof sampleStreams;

export const samplesKeptMs = 30 * 86_400_000;

import { z } from 'zod';

/** A stored sample of a refusal. It has no names of people and keys, because names are looked up when the sample is read. */
export const refusalSampleSchema = z.object({
  /** In ms since 1970. */
  at: z.number(),
  id: z.string(),
  /** The error code. */
  code: z.string(),
  /** The HTTP status of the code in the error table. */
  status: z.number(),
  /** Id of the key; absent if the request had no known key. */
  key: z.string().optional(),
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).optional(),
  /** The requested model or tool; absent if it was not read, or does not look like a name. */
  model: z.string().optional(),
  /** The message of the error, see `getSafeMessage`. */
  message: z.string().optional(),
});

export type RefusalSample = z.infer<typeof refusalSampleSchema>;

/**
 * The streams of samples, each with its maximum of samples. Requests without a known key have a separate stream, so that their samples do
 * not displace samples of keys.
 */
export const sampleStreams = { 'samples-of-keys': 200, 'samples-of-nobody': 50 } as const;
export type SampleStream = keyof typeof sampleStreams;

export const samplesKeptMs = 30 * 86_400_000;

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Sealer } from '#shared/core/seal.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { LineOutcome } from './batch-record.ts';
import type { SlicePart } from './slice.ts';

export const lineErrorSchema = createStoredSchema(z.object({ code: z.string(), line: z.number() }));

/** The error of a line: its code, and the number of the line in the input. */
export type LineError = z.infer<typeof lineErrorSchema>;

export interface LineResult {
  outcome: Extract<LineOutcome, 'succeeded' | 'errored'>;
  /** The line that is written to the file of results. */
  text: string;
  error?: LineError | undefined;
}

const lineObjectSchema = createStoredSchema(
  z.object({ outcome: z.enum(['succeeded', 'errored']), object: z.string() }),
);

/** A result whose text, including the line break at its end, is in an object. */
export type LineObject = z.infer<typeof lineObjectSchema>;

/**
 * A result in its stored form. `storedText` is the same in all calls that record this result. The `storedText` of another runner that works
 * on the same line differs.
 */
export interface StorableResult extends Pick<LineResult, 'outcome' | 'error'> {
  storedText: string;
  /** The upload with the result's text; undefined if the text is in `storedText`. */
  part?: SlicePart;
}

/** Seals a result with its text, with a sealer of the batch's owner, for the store in Redis. */
export async function sealResult(result: LineResult, sealer: Sealer): Promise<StorableResult> {
  const { outcome, error } = result;
  // The token makes the stored forms of different runners differ, even if their texts are equal.
  const text = JSON.stringify({ ...result, token: randomUUID() });
  return { outcome, error, storedText: await sealer.sealBytes([Buffer.from(text)]) };
}

/** Returns the stored form of a result whose text is in an object. */
export function toObjectResult(
  { object, bytes }: SlicePart,
  { outcome, error }: Pick<LineResult, 'outcome' | 'error'>,
): StorableResult {
  const stored: LineObject = { outcome, object };
  return { outcome, error, storedText: JSON.stringify(stored), part: { object, bytes } };
}

/** Opens a stored result; undefined if it cannot be opened. */
export function openResult(stored: string, sealer: Sealer): LineResult | LineObject | undefined {
  if (stored.startsWith('{')) return lineObjectSchema.safeParse(stored).data;
  const opened = sealer.unseal(stored);
  if (opened === undefined) return undefined;
  const { outcome, text, error } = JSON.parse(opened) as LineResult;
  return { outcome, text, error };
}

import { z } from 'zod';
import { storedJson } from '../redis/stored-value.ts';

export const sliceSchema = storedJson(
  z.object({
    from: z.number(),
    to: z.number(),
    lines: z.number(),
    /** Number of the slice's first line in the input, from 1. Blank lines count, too. */
    first: z.number().optional(),
  }),
);

/** The position of a slice's lines in the input, in bytes (`to` is exclusive), and the number of lines. */
export type Slice = z.infer<typeof sliceSchema>;

/** A single object is stored as its name alone, because earlier releases read only this form. */
const objectsSchema = z.union([z.string().transform((object) => [object]), z.array(z.string())]).default([]);

export const sliceResultsSchema = storedJson(z.object({ output: objectsSchema, errors: objectsSchema }));

/** Names of the objects with a slice's results, in any order. */
export type SliceResults = z.output<typeof sliceResultsSchema>;

/** An object with results of a slice, which the batch is to hold. */
export interface SlicePart {
  object: string;
  bytes: number;
}

/** Returns the stored form of the objects with a slice's output or errors: one name by itself, several names as a list. */
export function storedObjectNames(
  part: SlicePart | undefined,
  lines: readonly string[] = [],
): string | readonly string[] | undefined {
  const names = part ? [part.object, ...lines] : lines;
  return names.length > 1 ? names : names[0];
}

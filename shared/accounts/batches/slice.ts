import { z } from 'zod';
import { storedJson } from '../redis/stored-value.ts';

/** What is stored of a slice. */
export const sliceSchema = storedJson(
  z.object({
    from: z.number(),
    to: z.number(),
    lines: z.number(),
    /** Number of its first line in the input, from 1, blank ones counted. */
    first: z.number().optional(),
  }),
);

/** Where the lines of a slice are: bytes of the input, `to` exclusive, and how many lines. */
export type Slice = z.infer<typeof sliceSchema>;

/** A single object is stored as its name alone, as earlier releases read it. */
const objectsSchema = z.union([z.string().transform((object) => [object]), z.array(z.string())]).default([]);

/** What is stored of the results of a slice that is over. */
export const sliceResultsSchema = storedJson(z.object({ output: objectsSchema, errors: objectsSchema }));

/** Names of the objects with a slice's results, in any order. */
export type SliceResults = z.output<typeof sliceResultsSchema>;

/** What was stored of a slice's results, and is to be held by the batch. */
export interface SlicePart {
  object: string;
  bytes: number;
}

/** What is stored of the objects with the output, or the errors, of a slice: one name by itself, several as a list. */
export function namesOf(
  part: SlicePart | undefined,
  lines: readonly string[] = [],
): string | readonly string[] | undefined {
  const names = part ? [part.object, ...lines] : lines;
  return names.length > 1 ? names : names[0];
}

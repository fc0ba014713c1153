import { z } from 'zod';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';

export const sliceSchema = createStoredSchema(
  z.object({
    from: z.number(),
    to: z.number(),
    lines: z.number(),
    /** Number of the slice's first line in the input, from 1. Blank lines are counted as well. */
    first: z.number(),
  }),
);

/** The position of a slice's lines in the input, in bytes (`to` is exclusive), and the number of lines. */
export type Slice = z.infer<typeof sliceSchema>;

export const sliceResultsSchema = createStoredSchema(
  z.object({ output: z.array(z.string()), errors: z.array(z.string()) }),
);

/** Names of the objects with a slice's results, in any order. */
export type SliceResults = z.infer<typeof sliceResultsSchema>;

/** An object with results of a slice. The batch holds it once the results are recorded. */
export interface SlicePart {
  object: string;
  bytes: number;
}

import { z } from 'zod';

/** How often a record was changed since it was made. A change may ask to be made only at a revision; absent: 0. */
export const revisionSchema = z.coerce.number().int().min(0).optional().catch(undefined);

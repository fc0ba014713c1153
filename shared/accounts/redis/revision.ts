import { z } from 'zod';

/** The number of changes of a record since its creation; absent: 0. A caller may make its change depend on the revision. */
export const revisionSchema = z.coerce.number().int().min(0).optional().catch(undefined);

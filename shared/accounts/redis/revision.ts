import { z } from 'zod';

/** How often a record was changed since it was made; absent: 0. A caller may make its change depend on the revision. */
export const revisionSchema = z.coerce.number().int().min(0).optional().catch(undefined);

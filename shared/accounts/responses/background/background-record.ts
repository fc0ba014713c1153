import { z } from 'zod';

/** The states of a background response. A response in one of the last four states is over. */
const states = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const;

const time = z.coerce.number();

/** The stored record of a background response, without its texts and events. Times in ms since 1970. */
export const backgroundRecordSchema = z.object({
  id: z.string(),
  /** The person or team that the response belongs to, or the key if the key has no owner. */
  owner: z.string(),
  /** Id of the key that requested the response, or of the person of a console session. The response is served as a request of this key. */
  key: z.string(),
  format: z.string(),
  /** Id of the request that created it. */
  requestId: z.string(),
  state: z.enum(states),
  createdAt: time,
  /** When the response fails if it is not over by then. */
  expiresAt: time,
  startedAt: time.optional(),
  endedAt: time.optional(),
  /** Id of the run that began last; empty before the first run. */
  attempt: z.string().default(''),
  /** Number of runs that ended with an error which counts towards the maximum number of runs. */
  failures: z.coerce.number().int().nonnegative().default(0),
  /** Bytes of the sealed texts that a run needs; 0 when the response is over. */
  requestBytes: z.coerce.number(),
  deletedAt: time.optional(),
});

export type BackgroundRecord = z.infer<typeof backgroundRecordSchema>;

export type NewBackgroundRecord = Pick<
  BackgroundRecord,
  'id' | 'owner' | 'key' | 'format' | 'requestId' | 'createdAt' | 'expiresAt'
>;

export function isOver({ state }: Pick<BackgroundRecord, 'state'>): boolean {
  return state !== 'queued' && state !== 'in_progress';
}

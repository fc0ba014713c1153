import { z } from 'zod';

/** The states of a background response. In the last four, it is over. */
const states = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const;

const time = z.coerce.number();

/** The stored record of a background response, without its texts and events. Times in ms since 1970. */
export const backgroundRecordSchema = z.object({
  id: z.string(),
  /** The person, team or key without owner that it belongs to. */
  owner: z.string(),
  /** Id of the key that requested it, or of the person of a console session. It is served as a request of this key. */
  key: z.string(),
  format: z.string(),
  /** Id of the request that created it. */
  requestId: z.string(),
  state: z.enum(states),
  createdAt: time,
  /** When it fails unless it is over by then. */
  expiresAt: time,
  startedAt: time.optional(),
  endedAt: time.optional(),
  /** Id of the last run that made it; empty before the first one. */
  attempt: z.string().default(''),
  /** Runs that ended with an error of their own. */
  failures: z.coerce.number().int().nonnegative().default(0),
  /** Bytes of the sealed texts that a run needs; 0 when the response is over. */
  requestBytes: z.coerce.number().default(0),
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

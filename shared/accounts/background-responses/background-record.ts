import { z } from 'zod';

/** The states of a response that is made in the background; the last four are those in which it is over. */
const states = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const;

const time = z.coerce.number();

/** What is stored of a response that is made in the background, besides its texts and events. Times in ms since 1970. */
export const backgroundRecordSchema = z.object({
  id: z.string(),
  /** The person, team or key without owner that it belongs to. */
  owner: z.string(),
  /** Id of the key, or of the console session's person, that asked for it. It is served as a request of this key. */
  key: z.string(),
  /** Name of its client format. */
  format: z.string(),
  /** Id of the request that asked for it. */
  requestId: z.string(),
  state: z.enum(states),
  createdAt: time,
  /** When it fails if it is not over. */
  expiresAt: time,
  startedAt: time.optional(),
  endedAt: time.optional(),
  /** Id of the last attempt to make it; empty before the first one. */
  attempt: z.string().default(''),
  /** Attempts that ended with an error of its own. */
  failures: z.coerce.number().int().nonnegative().default(0),
  /** Bytes of what is needed to make it, sealed; 0 when it is over. */
  requestBytes: z.coerce.number().default(0),
  deletedAt: time.optional(),
});

export type BackgroundRecord = z.infer<typeof backgroundRecordSchema>;

/** What is known of a response when it is asked for. */
export type NewBackgroundRecord = Pick<
  BackgroundRecord,
  'id' | 'owner' | 'key' | 'format' | 'requestId' | 'createdAt' | 'expiresAt'
>;

/** Whether nothing of a response is still to be done. */
export function isOver({ state }: Pick<BackgroundRecord, 'state'>): boolean {
  return state !== 'queued' && state !== 'in_progress';
}

import { z } from 'zod';

/** The description of a recorded request, without its content. Times in ms since 1970. */
export const recordingFactsSchema = z.object({
  id: z.string(),
  /** When the whole body of the request had arrived. */
  at: z.number(),
  /** When the answer ended. */
  endedAt: z.number(),
  /** Method and path. */
  endpoint: z.string(),
  format: z.string(),
  /** The first 256 characters of the requested model; absent if the body names none, or could not be read. */
  model: z.string().exactOptional(),
  key: z.object({ id: z.string(), name: z.string() }),
  /** Absent for a router key. */
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).exactOptional(),
  /** Id of the agent session that the request belongs to; absent if it belongs to none. */
  session: z.string().exactOptional(),
  /** The HTTP status of the answer; absent if no answer had begun. */
  status: z.number().exactOptional(),
  contentType: z.string().exactOptional(),
  /** How the answer ended. `cut`: the connection ended before the answer did. */
  end: z.enum(['whole', 'cut']),
  /** Bytes of the whole body, recorded or not. */
  requestBytes: z.number(),
  /** Bytes of the whole answer, recorded or not. */
  answerBytes: z.number(),
  /** Whether only a part of the body was recorded. */
  isRequestCut: z.boolean(),
  /** Whether only a part of the answer was recorded. */
  isAnswerCut: z.boolean(),
});

export type RecordingFields = z.infer<typeof recordingFactsSchema>;

export interface StoredRecording {
  /** The owner of the recording, see `findStoreOwner`. */
  owner: string;
  /** When the recording was stored, in ms since 1970. */
  keptAt: number;
  facts: RecordingFields;
}

export interface WholeRecording extends StoredRecording {
  request: Buffer;
  answer: Buffer;
}

/** The party that may see a recording, as written in the names of lists in Redis. */
export type RecordingParty = `user:${string}` | `team:${string}` | `key:${string}`;

export function toRecordingParty({ key, owner }: Pick<RecordingFields, 'key' | 'owner'>): RecordingParty {
  return owner === undefined ? `key:${key.id}` : `${owner.kind}:${owner.id}`;
}

/** Present on a key or a team if its requests are recorded. States who switched that on, and when, in ms since 1970. */
export const recordingSwitchSchema = z.object({
  /** Id of the person, or of the admin token. */
  by: z.string(),
  since: z.number(),
});

export type RecordingSwitch = z.infer<typeof recordingSwitchSchema>;

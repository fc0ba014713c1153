import { z } from 'zod';

/** The facts of a recorded request, without its content. Times in ms since 1970. */
export const recordingFactsSchema = z.object({
  id: z.string(),
  /** When its body had arrived, and when its answer ended. */
  at: z.number(),
  endedAt: z.number(),
  /** Method and path. */
  endpoint: z.string(),
  format: z.string(),
  /** The first 256 characters of the requested model; absent where the body names none, or could not be read. */
  model: z.string().exactOptional(),
  key: z.object({ id: z.string(), name: z.string() }),
  /** Absent for a router key. */
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).exactOptional(),
  /** Id of the agent session that the request was a turn of. */
  session: z.string().exactOptional(),
  /** The HTTP status of the answer; absent if no answer had begun. */
  status: z.number().exactOptional(),
  contentType: z.string().exactOptional(),
  /** `cut`: the connection ended before the answer did. */
  end: z.enum(['whole', 'cut']),
  /** Bytes of the whole body and of the whole answer. */
  requestBytes: z.number(),
  answerBytes: z.number(),
  /** Whether less than the whole body, or the whole answer, was recorded. */
  isRequestCut: z.boolean(),
  isAnswerCut: z.boolean(),
});

export type RecordingFields = z.infer<typeof recordingFactsSchema>;

export interface StoredRecording {
  /** Id that owns the recording, see `storeOwnerOf`. */
  owner: string;
  /** When it was stored, in ms since 1970. */
  keptAt: number;
  facts: RecordingFields;
}

export interface WholeRecording extends StoredRecording {
  request: Buffer;
  answer: Buffer;
}

/** The party that may see a recording, as in the names of the lists in Redis. */
export type RecordingParty = `user:${string}` | `team:${string}` | `key:${string}`;

export function recordingPartyOf({ key, owner }: Pick<RecordingFields, 'key' | 'owner'>): RecordingParty {
  return owner === undefined ? `key:${key.id}` : `${owner.kind}:${owner.id}`;
}

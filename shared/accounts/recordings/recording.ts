import { z } from 'zod';

/** What is known of a recorded request, besides its content. Times in ms since 1970. */
export const recordingFactsSchema = z.object({
  /** Id of the request. */
  id: z.string(),
  /** When its body had arrived, and when its answer ended. */
  at: z.number(),
  endedAt: z.number(),
  /** Method and path. */
  endpoint: z.string(),
  /** Name of the client's format. */
  format: z.string(),
  /** The model that it asked for, its first 256 characters; absent where the body does not say it, or could not be read. */
  model: z.string().exactOptional(),
  key: z.object({ id: z.string(), name: z.string() }),
  /** Absent for a router key. */
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string() }).exactOptional(),
  /** Id of the session of a coding agent that it was a turn of. */
  session: z.string().exactOptional(),
  /** The HTTP status of the answer; absent where none was begun. */
  status: z.number().exactOptional(),
  /** The media type of the answer. */
  contentType: z.string().exactOptional(),
  /** `cut`: the connection ended before the answer did. */
  end: z.enum(['whole', 'cut']),
  /** Bytes that the body and the answer had. */
  requestBytes: z.number(),
  answerBytes: z.number(),
  /** Whether not all of it was recorded. */
  isRequestCut: z.boolean(),
  isAnswerCut: z.boolean(),
});

export type RecordingFacts = z.infer<typeof recordingFactsSchema>;

/** A recorded request as it is found: whose it is in the store, when it was kept, and what is known of it. */
export interface KeptRecording {
  /** See `storeOwnerOf`. */
  owner: string;
  /** Ms since 1970. */
  keptAt: number;
  facts: RecordingFacts;
}

/** A recorded request with its content. */
export interface WholeRecording extends KeptRecording {
  request: Buffer;
  answer: Buffer;
}

/** Who sees a recording, as its lists name them. */
export type RecordingParty = `user:${string}` | `team:${string}` | `key:${string}`;

/** Who sees the recordings of a key. */
export function recordingPartyOf({ key, owner }: Pick<RecordingFacts, 'key' | 'owner'>): RecordingParty {
  return owner === undefined ? `key:${key.id}` : `${owner.kind}:${owner.id}`;
}

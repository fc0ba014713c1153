import type { Redis } from 'ioredis';
import { removeAgentSessionsOfOwner } from '../ledger/agent-sessions/remove-agent-sessions-of-owner.ts';
import { backgroundJournal } from '../responses/background/background-responses.ts';
import { cancelBatchesOfOwner } from '../batches/batches.ts';
import { fileStore } from '../files/file-records.ts';
import { idempotentJournal } from '../idempotent-answers/idempotent-answers.ts';
import { recordingStore, removeEarlierRecordings } from '../recordings/recordings.ts';
import { responseStore } from '../responses/stored/stored-responses.ts';
import { removeWebhooksOfOwner } from '../webhooks/remove-webhooks-of-owner.ts';

/** An owner: a person, a team, or a key that stores content in place of an owner. */
export interface RemovedOwner {
  kind: 'user' | 'team' | 'key';
  id: string;
}

type RemoveOfOwner = (redis: Redis, prefix: string, owner: RemovedOwner) => Promise<void>;

/**
 * How each kind of stored thing of an owner is removed, by its folder, in the order of the removal. A test requires an entry for each folder
 * of accounts that keeps something of owners.
 */
export const removals: Readonly<Record<string, RemoveOfOwner>> = {
  // Batches are cancelled, and removed when they expire.
  batches: (redis, prefix, { id }) => cancelBatchesOfOwner(redis, prefix, id),
  'responses/stored': (redis, prefix, { id }) => responseStore.removeOwner(redis, prefix, id),
  // The content of the files is removed within minutes.
  files: (redis, prefix, { id }) => fileStore.removeOwner(redis, prefix, id),
  'responses/background': (redis, prefix, { id }) => backgroundJournal.removeOwner(redis, prefix, id),
  'idempotent-answers': (redis, prefix, { id }) => idempotentJournal.removeOwner(redis, prefix, id),
  recordings: async (redis, prefix, { id }) => {
    await recordingStore.removeOwner(redis, prefix, id);
    await removeEarlierRecordings(redis, prefix, id);
  },
  // A key has no webhooks.
  webhooks: async (redis, prefix, { kind, id }) => {
    if (kind !== 'key') await removeWebhooksOfOwner(redis, prefix, `${kind}:${id}`);
  },
  // The sessions of a revoked key are part of the usage that administrators see.
  'ledger/agent-sessions': async (redis, prefix, { kind, id }) => {
    if (kind !== 'key') await removeAgentSessionsOfOwner(redis, prefix, `${kind}:${id}`);
  },
};

/**
 * The names in Redis of what an owner stores, without the owner's id, which follows. Each name exists while the owner has something of the
 * kind. Answers for repeated requests are left out, because they are kept for a short time.
 */
export const storedNamesOfOwner: readonly string[] = [
  'batches-of:openai:',
  'batches-of:anthropic:',
  'stored-of:',
  'files-of:',
  'background-open-of:',
  'background-ended-of:',
  'recording-of:',
];

/** The stores that batch runners sweep, by the names of their kinds in metrics. Files have a sweep of their own, see `FileSweep`. */
export const sweptStores = { stored_response: responseStore, recording: recordingStore };

export type SweptStore = keyof typeof sweptStores;

/**
 * Cancels the batches of an owner that no longer exists, and removes everything that is stored for the owner. The call can be repeated after
 * a crash.
 * @throws RouterError `store_unavailable`
 */
export async function removeAllOfOwner(redis: Redis, prefix: string, owner: RemovedOwner): Promise<void> {
  for (const remove of Object.values(removals)) await remove(redis, prefix, owner);
}

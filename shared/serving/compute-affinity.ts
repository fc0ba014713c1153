import { hash } from 'node:crypto';
import { findStoreOwner, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { Conversation } from '#shared/formats/request-signs.ts';

export interface NamedSession {
  name: string;
  /** Whether the session keeps its name when its conversation starts over after a compaction, with a prompt that is not cached. */
  mayRestart: boolean;
}

/**
 * Computes a number of 32 bits that is the same for all requests of one conversation. The number depends on the session that the client
 * names in headers or body. If the client names no session, the number depends on the start of the conversation; in a session that may
 * restart, on both. It also depends on the owner (see `findStoreOwner`), so that no client reaches the worker of another owner's conversation
 * by sending the same text.
 * @param session the session that the client's headers name
 */
export function computeAffinity(
  identity: Pick<KeyIdentity, 'id' | 'ownerId' | 'storesAs'>,
  session: NamedSession | undefined,
  { name, start }: Conversation,
): number {
  const isNamed = session === undefined ? name !== undefined : !session.mayRestart;
  const facts = [findStoreOwner(identity), session?.name ?? '', name ?? '', isNamed ? '' : start];
  return hash('sha256', JSON.stringify(facts), 'buffer').readUInt32LE();
}

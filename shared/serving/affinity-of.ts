import { hash } from 'node:crypto';
import { storeOwnerOf, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { Conversation } from '#shared/formats/conversation.ts';

/** A session that a client names in its headers. */
export interface NamedSession {
  name: string;
  /** Whether a conversation begins anew under the same name, after a compaction: then nothing of its prompt is cached. */
  restarts: boolean;
}

/**
 * A number of 32 bits that is the same for requests of one conversation: of the session that the client names in headers or
 * body, else of the conversation's start. In a session that restarts both count. It depends on to whom belongs what the key stores, so that
 * nobody is led to the worker of another one's conversation by sending what that one sends.
 * @param session as the client's headers name it
 */
export function affinityOf(
  identity: Pick<KeyIdentity, 'id' | 'ownerId' | 'storesAs'>,
  session: NamedSession | undefined,
  { name, start }: Conversation,
): number {
  const isNamed = session === undefined ? name !== undefined : !session.restarts;
  const facts = [storeOwnerOf(identity), session?.name ?? '', name ?? '', isNamed ? '' : start];
  return hash('sha256', JSON.stringify(facts), 'buffer').readUInt32LE();
}

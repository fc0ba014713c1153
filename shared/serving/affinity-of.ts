import { hash } from 'node:crypto';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { Conversation } from '#shared/formats/conversation.ts';

/**
 * A number of 32 bits that is the same for requests of one conversation: of the session that the client names in headers or
 * body, else of the conversation's start. It depends on the key's owner, so that nobody is led to the worker of another
 * owner's conversation by sending what that one sends.
 * @param session as the client's headers name it
 */
export function affinityOf(
  { id, ownerId }: Pick<KeyIdentity, 'id' | 'ownerId'>,
  session: string | undefined,
  { name, start }: Conversation,
): number {
  const isNamed = session !== undefined || name !== undefined;
  const facts = [ownerId ?? id, session ?? '', name ?? '', isNamed ? '' : start];
  return hash('sha256', JSON.stringify(facts), 'buffer').readUInt32LE();
}

import { hash } from 'node:crypto';
import type { UsageRecord } from '../ledger/usage-record.ts';

/** Whom sessions belong to: the person or the team of their key, or a key that belongs to nobody. */
export type SessionOwner = `user:${string}` | `team:${string}` | `key:${string}`;

/** Whose key it is; empty where it is nobody's of the kind. */
export interface KeyParty {
  key: string;
  user: string;
  team: string;
}

/** The key of a request, and whose it is. */
export function partyOfRecord({ key, owner }: Pick<UsageRecord, 'key' | 'owner'>): KeyParty {
  return {
    key: key.id,
    user: owner?.kind === 'user' ? owner.id : '',
    team: owner?.kind === 'team' ? owner.id : '',
  };
}

export function sessionOwnerOf({ key, user, team }: KeyParty): SessionOwner {
  if (user !== '') return `user:${user}`;
  return team === '' ? `key:${key}` : `team:${team}`;
}

/** The party of an owner's sessions; `key` is that of the session, if it is known. */
export function partyOfOwner(owner: string, key = ''): KeyParty {
  const colon = owner.indexOf(':');
  const kind = owner.slice(0, colon);
  const id = owner.slice(colon + 1);
  if (kind === 'user') return { key, user: id, team: '' };
  return kind === 'team' ? { key, user: '', team: id } : { key: id, user: '', team: '' };
}

/**
 * The id of a session, by which the router knows it. Clients name their sessions themselves, so the owner is part of it: who sends the name of
 * another one's session writes into a session of their own.
 */
export function sessionIdOf(owner: SessionOwner, name: string): string {
  return hash('sha256', JSON.stringify([owner, name])).slice(0, 32);
}

/** What ids of sessions are. */
export const sessionIdForm = /^[\da-f]{32}$/;

/** Names in Redis. */
export function sessionKeys(prefix: string) {
  const base = `${prefix}usage:sessions:`;
  return {
    base,
    all: `${base}all`,
    of: (owner: string): string => `${base}of:${owner}`,
    session: (id: string): string => `${base}session:${id}`,
    agents: (id: string): string => `${base}agents:${id}`,
    turns: (id: string): string => `${base}turns:${id}`,
    day: (owner: string, day: string): string => `${base}day:${owner}:${day}`,
  };
}

import { hash } from 'node:crypto';
import type { UsageRecord } from '../usage-record.ts';
import { findBeginning, toPeriodName } from '../../periods.ts';

/** The owner of agent sessions: the person or the team of their key, or the key itself if it belongs to nobody. */
export type SessionOwner = `user:${string}` | `team:${string}` | `key:${string}`;

/** A key and its owner; `user` is empty if the key belongs to no person, `team` if it belongs to no team. */
export interface KeyWithOwner {
  key: string;
  user: string;
  team: string;
}

export function toKeyWithOwner({ key, owner }: Pick<UsageRecord, 'key' | 'owner'>): KeyWithOwner {
  return {
    key: key.id,
    user: owner?.kind === 'user' ? owner.id : '',
    team: owner?.kind === 'team' ? owner.id : '',
  };
}

export function toSessionOwner({ key, user, team }: KeyWithOwner): SessionOwner {
  if (user !== '') return `user:${user}`;
  return team === '' ? `key:${key}` : `team:${team}`;
}

/**
 * Converts the owner of a session to a key and its owner.
 * @param key id of the session's key, if it is known; not used if the session belongs to the key itself
 */
export function parseSessionOwner(owner: string, key = ''): KeyWithOwner {
  const colon = owner.indexOf(':');
  const kind = owner.slice(0, colon);
  const id = owner.slice(colon + 1);
  if (kind === 'user') return { key, user: id, team: '' };
  return kind === 'team' ? { key, user: '', team: id } : { key: id, user: '', team: '' };
}

/**
 * Computes the id that the router uses for a session. Clients name their sessions themselves, so the owner is part of the hash: a client
 * that sends the name of somebody else's session writes into a separate session.
 */
export function computeSessionId(owner: SessionOwner, name: string): string {
  return hash('sha256', JSON.stringify([owner, name])).slice(0, 32);
}

export const sessionIdPattern = /^[\da-f]{32}$/;

export function sessionRedisNames(prefix: string) {
  const base = `${prefix}usage:sessions:`;
  return {
    base,
    all: `${base}all`,
    ofOwner: (owner: string): string => `${base}of:${owner}`,
    session: (id: string): string => `${base}session:${id}`,
    agents: (id: string): string => `${base}agents:${id}`,
    turns: (id: string): string => `${base}turns:${id}`,
    day: (owner: string, day: string): string => `${base}day:${owner}:${day}`,
  };
}

const dayMs = 86_400_000;

/** Milliseconds for which the sums of a session are kept after its last turn. */
export const agentSessionsKeptMs = 7 * dayMs;

/** Returns the current UTC day, such as `2026-11-21`, and the days that ended less than `keptMs` milliseconds ago, newest first. */
export function listKeptDays(keptMs: number, now = Date.now()): string[] {
  const names: string[] = [];
  for (let day = findBeginning('day', now); day + dayMs > now - keptMs; day -= dayMs)
    names.push(toPeriodName('day', day));
  return names;
}

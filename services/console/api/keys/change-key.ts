import type { z } from 'zod';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import { requireAccess } from '../access.ts';
import type { Actor } from '../actor.ts';
import { forbidden, notFound, stale } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { changesNothing } from '../operations/changes-nothing.ts';
import { switched } from '../recordings/recording-state.ts';
import { adminSetAfter, lockedIn } from './admin-set.ts';
import { changedMeanwhile, lockedFailure, notUsable } from './key-failures.ts';
import type { keyChange } from './key-inputs.ts';
import { locksSettings, mayMakePersonalKeys, ownerOf } from './make-key.ts';

/** A change is tried at most this many times. Each time it is checked and stored, which fails if others have changed the key meanwhile. */
const maxAttempts = 5;

interface WantedChange {
  wanted: z.output<typeof keyChange>;
  /** The revision that the change is for; undefined: any. */
  ifRevision?: number | undefined;
  /** Reads the key again. Throws when the person may no longer change it. */
  again: () => Promise<FoundKey>;
}

/**
 * Changes the settings of a key, if the actor may. The change is stored only if the key still has the revision that was checked. When
 * others have changed it since it was read, the key is read and checked again. Returns the changed key.
 * @throws ApiFailure 403, 404, 409, 412
 */
export async function changeKey(
  parts: ApiParts,
  actor: Actor,
  found: FoundKey,
  { wanted, ifRevision, again }: WantedChange,
): Promise<FoundKey> {
  const { keys } = parts.accounts;
  if (ifRevision !== undefined && ifRevision !== revisionOf(found)) throw stale();
  let key = found;
  for (let attempt = 1; ; attempt += 1) {
    const change = judge(parts, actor, key, wanted);
    if (isProlonged(key, wanted) && !(await mayMakePersonalKeys(parts, actor))) {
      throw forbidden('Only administrators may prolong personal keys here.');
    }
    const outcome = await keys.change(key.id, change, revisionOf(key));
    if (outcome === 'unknown') throw notFound();
    if (outcome === 'over') throw notUsable();
    if (outcome === 'changed') break;
    if (ifRevision !== undefined) throw stale();
    if (attempt === maxAttempts) throw changedMeanwhile();
    key = await again();
  }
  await parts.announce(key.id);
  const was = { ...key, records: key.records !== undefined };
  const before = Object.fromEntries(Object.keys(wanted).map((name) => [name, was[name as keyof FoundKey] ?? null]));
  const { kind, ownerId } = key;
  const target = { kind: 'key', id: key.id, name: key.name };
  await record(parts, actor, { action: 'key.change', target, details: { kind, ownerId, before, after: wanted } });
  return (await keys.find(key.id)) ?? key;
}

/**
 * Returns whether a change would leave a key as it is. It does if the key already has all values, and those that an administrator sets are
 * marked as set by one.
 */
export function isUnchangedBy(actor: Actor, key: FoundKey, wanted: z.output<typeof keyChange>): boolean {
  if (!changesNothing(key, wanted)) return false;
  if (!locksSettings(actor, ownerOf(key))) return true;
  return JSON.stringify(adminSetAfter(key, wanted)) === JSON.stringify(key.adminSet);
}

function isProlonged({ kind, expiresAt }: FoundKey, { expiresAt: wanted }: z.output<typeof keyChange>): boolean {
  if (kind !== 'user' || expiresAt === undefined || wanted === undefined) return false;
  return wanted === null || wanted > expiresAt;
}

/**
 * Checks a change and returns what is to be stored.
 * @throws ApiFailure 403
 */
function judge(
  { recordings: { isOn } }: Pick<ApiParts, 'recordings'>,
  actor: Actor,
  key: FoundKey,
  { records, ...wanted }: z.output<typeof keyChange>,
) {
  const owner = ownerOf(key);
  if (wanted.class === 'high' && key.class !== 'high' && key.owner?.ceiling?.maxClass !== 'high') {
    requireAccess('key.class.high', actor, owner);
  }
  const locked = actor.role === 'admin' ? undefined : lockedIn(key, wanted);
  if (locked !== undefined) throw lockedFailure(locked);
  const changes = Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => [name, value === null ? undefined : value]),
  );
  if (records === true) requireSwitch(actor, key);
  return {
    ...changes,
    ...(records !== undefined && { records: switched(key.records, records, actor, isOn) ?? undefined }),
    ...(locksSettings(actor, owner) && { adminSet: adminSetAfter(key, wanted) }),
  };
}

/**
 * Checks that the actor may record the requests of a key. Only the person of a personal key may.
 * @throws ApiFailure 403
 */
function requireSwitch(actor: Actor, { kind, ...key }: FoundKey): void {
  if (kind !== 'user') return requireAccess('key.record', actor, ownerOf({ kind, ...key }));
  if (key.ownerId !== actor.id) throw forbidden('Only its person may have the requests of a personal key recorded.');
}

function revisionOf({ revision = 0 }: FoundKey): number {
  return revision;
}

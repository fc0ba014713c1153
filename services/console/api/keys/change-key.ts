import type { z } from 'zod';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import { requireAccess } from '../access.ts';
import type { Actor } from '../actor.ts';
import { forbidden, notFound, stale } from '../api-failure.ts';
import { announceChange, writeAudit, type ApiParts } from '../api-parts.ts';
import { hasAllValues } from '../operations/if-match.ts';
import { computeSwitch } from '../recordings/recording-state.ts';
import { computeAdminSet, findLockedSetting } from './admin-set.ts';
import { keyChangedFailure, lockedFailure, notUsableFailure } from './key-answers.ts';
import type { keyChange } from './key-inputs.ts';
import { locksSettings, mayMakePersonalKeys, ownerOf } from './make-key.ts';

/** The maximum number of tries of a change. A try fails if somebody else changes the key between the check and the write. */
const maxTries = 5;

interface WantedChange {
  wanted: z.output<typeof keyChange>;
  /** The revision that the key must have; undefined: any. */
  ifRevision?: number | undefined;
  /** Reads the key again. Throws if the person may no longer change the key. */
  readAgain: () => Promise<FoundKey>;
}

/**
 * Changes the settings of a key and returns the changed key. The change is stored only if the key still has the revision that was checked.
 * If somebody else has changed the key meanwhile, the key is read and checked again.
 * @throws ApiFailure 403, 404, 409, 412
 */
export async function changeKey(
  parts: ApiParts,
  actor: Actor,
  found: FoundKey,
  { wanted, ifRevision, readAgain }: WantedChange,
): Promise<FoundKey> {
  const { keys } = parts.accounts;
  if (ifRevision !== undefined && ifRevision !== revisionOf(found)) throw stale();
  let key = found;
  for (let tries = 1; ; tries += 1) {
    const change = checkChange(parts, actor, key, wanted);
    if (isProlongedBy(key, wanted) && !(await mayMakePersonalKeys(parts, actor))) {
      throw forbidden('Only administrators may prolong personal keys here.');
    }
    const { id } = key;
    const outcome = await announceChange(parts, id, () => keys.change(id, change, revisionOf(key)));
    if (outcome === 'unknown') throw notFound();
    if (outcome === 'over') throw notUsableFailure();
    if (outcome === 'changed') break;
    if (ifRevision !== undefined) throw stale();
    if (tries === maxTries) throw keyChangedFailure();
    key = await readAgain();
  }
  const fieldsBefore = { ...key, records: key.records !== undefined };
  const before = Object.fromEntries(
    Object.keys(wanted).map((name) => [name, fieldsBefore[name as keyof FoundKey] ?? null]),
  );
  const { kind, ownerId } = key;
  const target = { kind: 'key', id: key.id, name: key.name };
  await writeAudit(parts, actor, { action: 'key.change', target, details: { kind, ownerId, before, after: wanted } });
  return (await keys.find(key.id)) ?? key;
}

/**
 * Returns whether a change would leave a key as it is: the key already has all wanted values and, if the change would lock settings, these
 * settings are locked already.
 */
export function isUnchangedBy(actor: Actor, key: FoundKey, wanted: z.output<typeof keyChange>): boolean {
  if (!hasAllValues(key, wanted)) return false;
  if (!locksSettings(actor, ownerOf(key))) return true;
  return JSON.stringify(computeAdminSet(key, wanted)) === JSON.stringify(key.adminSet);
}

function isProlongedBy({ kind, expiresAt }: FoundKey, { expiresAt: wanted }: z.output<typeof keyChange>): boolean {
  if (kind !== 'user' || expiresAt === undefined || wanted === undefined) return false;
  return wanted === null || wanted > expiresAt;
}

/**
 * Checks that the actor may make a change, and returns the fields of the key to store.
 * @throws ApiFailure 403
 */
function checkChange(
  { recordings: { isOn } }: Pick<ApiParts, 'recordings'>,
  actor: Actor,
  key: FoundKey,
  { records, ...wanted }: z.output<typeof keyChange>,
) {
  const owner = ownerOf(key);
  if (wanted.class === 'high' && key.class !== 'high' && key.owner?.ceiling?.maxClass !== 'high') {
    requireAccess('key.class.high', actor, owner);
  }
  const lockedSetting = actor.role === 'admin' ? undefined : findLockedSetting(key, wanted);
  if (lockedSetting !== undefined) throw lockedFailure(lockedSetting);
  const changes = Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => [name, value === null ? undefined : value]),
  );
  if (records === true) requireMayRecord(actor, key);
  return {
    ...changes,
    ...(records !== undefined && { records: computeSwitch(key.records, records, actor, isOn) ?? undefined }),
    ...(locksSettings(actor, owner) && { adminSet: computeAdminSet(key, wanted) }),
  };
}

/**
 * Checks that the actor may switch on the recording of a key's requests. For a personal key, only its person may.
 * @throws ApiFailure 403
 */
function requireMayRecord(actor: Actor, { kind, ...key }: FoundKey): void {
  if (kind !== 'user') return requireAccess('key.record', actor, ownerOf({ kind, ...key }));
  if (key.ownerId !== actor.id)
    throw forbidden('Only the person of a personal key may switch on the recording of its requests.');
}

function revisionOf({ revision = 0 }: FoundKey): number {
  return revision;
}

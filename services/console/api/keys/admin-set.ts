import type { FoundKey, KeyRecord } from '#shared/accounts/keys/key-record.ts';
import { limitNames, type Limits } from '#shared/accounts/limits/limits.ts';

/** The settings of a key that an administrator's change keeps others from changing, the limits aside. */
const fields = ['class', 'expiresAt', 'models', 'tiers', 'tools', 'weight'] as const;

type Settings = Partial<Pick<KeyRecord, (typeof fields)[number] | 'limits'>>;

/** Settings to change; null stands for one that is removed, and what is absent stays. */
export type WantedSettings = { [name in (typeof fields)[number]]?: Settings[name] | null | undefined } & {
  limits?: Limits | undefined;
};

/**
 * What an administrator's change leaves of `adminSet` (see KeyRecord): what it sets is added, also where the key has had the same value, and
 * what it removes is taken out.
 */
export function adminSetAfter(
  key: Settings & Pick<KeyRecord, 'adminSet'>,
  wanted: WantedSettings,
): string[] | undefined {
  const names = new Set(key.adminSet);
  for (const { name, after } of changesOf(key, wanted)) {
    if (after === undefined) names.delete(name);
    else names.add(name);
  }
  return names.size === 0 ? undefined : [...names];
}

/** The first setting of an administrator's that a change by somebody else would change; undefined for none. */
export function lockedIn(key: FoundKey, wanted: WantedSettings): string | undefined {
  const { adminSet = [] } = key;
  const locked = changesOf(key, wanted).find(
    ({ name, before, after }) => adminSet.includes(name) && !isSame(before, after),
  );
  return locked?.name;
}

function changesOf(key: Settings, wanted: WantedSettings): { name: string; before: unknown; after: unknown }[] {
  const changed = fields.flatMap((name) =>
    wanted[name] === undefined ? [] : [{ name, before: key[name], after: wanted[name] ?? undefined }],
  );
  const { limits } = wanted;
  if (limits === undefined) return changed;
  const changedLimits = limitNames.map((name) => ({
    name: `limits.${name}`,
    before: key.limits?.[name],
    after: limits[name],
  }));
  return [...changed, ...changedLimits];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

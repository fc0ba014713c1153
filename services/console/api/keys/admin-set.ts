import type { FoundKey, KeyRecord } from '#shared/accounts/keys/key-record.ts';
import { limitNames, type Limits } from '#shared/accounts/limits/limits.ts';

/**
 * The settings of a key that become locked when an administrator sets them. Each of the key's limits can be locked too. Only administrators
 * may change a locked setting.
 */
const lockableSettings = ['class', 'expiresAt', 'models', 'tiers', 'tools', 'weight'] as const;

type Settings = Partial<Pick<KeyRecord, (typeof lockableSettings)[number] | 'limits'>>;

/** The settings to change: null removes a setting, an absent one stays. */
export type WantedSettings = { [name in (typeof lockableSettings)[number]]?: Settings[name] | null | undefined } & {
  limits?: Limits | undefined;
};

/**
 * Returns the `adminSet` of a key (see KeyRecord) after an administrator's change. A setting that the change sets is added, even if the key
 * already had this value. A setting that the change removes is removed from `adminSet`.
 */
export function computeAdminSet(
  key: Settings & Pick<KeyRecord, 'adminSet'>,
  wanted: WantedSettings,
): string[] | undefined {
  const names = new Set(key.adminSet);
  for (const { name, after } of listChanges(key, wanted)) {
    if (after === undefined) names.delete(name);
    else names.add(name);
  }
  return names.size === 0 ? undefined : [...names];
}

/** Returns the first locked setting that a change would alter; undefined if it alters none. */
export function findLockedSetting(key: FoundKey, wanted: WantedSettings): string | undefined {
  const { adminSet = [] } = key;
  const locked = listChanges(key, wanted).find(
    ({ name, before, after }) => adminSet.includes(name) && !isSame(before, after),
  );
  return locked?.name;
}

function listChanges(key: Settings, wanted: WantedSettings): { name: string; before: unknown; after: unknown }[] {
  const changed = lockableSettings.flatMap((name) =>
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

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

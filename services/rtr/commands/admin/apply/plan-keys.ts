import { pathOf } from '../admin-client.ts';
import type { Key } from '../admin-answers.ts';
import type { WantedKey } from './access-schema.ts';
import { joinPlans, emptyPlan, planChange, type ChangeContext, type Plan, type PresentAccess } from './change.ts';
import { changedFields, differences, type Difference } from './differences.ts';
import type { AccessFile } from './read-access.ts';
import { requireUnchanged } from './require-unchanged.ts';

interface Owner {
  kind: Key['kind'];
  /** Id of the owner; undefined for the router, and for an owner that does not exist yet. */
  id: string | undefined;
  /** Name of the owner in sentences, such as `team Research`; empty for the router. */
  name: string;
  path: readonly string[];
  /** Whether the owner may not change the settings in the file: true for a team, and for a person who is not an administrator. */
  isLocked: boolean;
  /** Returns the fields with which the API names the owner. */
  body: (maker: ChangeContext) => object;
}

/**
 * Plans the changes of keys.
 * @throws RouterError for a name that several keys have, and for a time in the past
 */
export function planKeys(file: AccessFile, present: PresentAccess): Plan {
  const { people = {}, teams = {}, keys = {} } = file.access;
  const router: Owner = { kind: 'router', id: undefined, name: '', path: ['keys'], isLocked: false, body: () => ({}) };
  return joinPlans([
    planOfOwner(file, present, router, keys),
    ...Object.entries(people).map(([email, { keys: own = {}, blocked }]) => {
      const now = present.people.get(email);
      // A blocked person's keys are unusable, and new ones cannot be created.
      if (blocked ?? now?.blocked) {
        const left = Object.keys(own).map((name) => `key ${name} of ${email}, who is blocked`);
        return { ...emptyPlan, left };
      }
      const body = (maker: ChangeContext) => ({ userId: maker.people.get(email) });
      const place = { path: ['people', email, 'keys'], isLocked: now?.role === 'member' };
      return planOfOwner(file, present, { kind: 'user', id: now?.id, name: email, ...place, body }, own);
    }),
    ...Object.entries(teams).map(([name, { keys: own = {} }]) => {
      const id = present.teams.get(name)?.[0]?.id;
      const body = (maker: ChangeContext) => ({ teamId: maker.teams.get(name) });
      const place = { path: ['teams', name, 'keys'], isLocked: true };
      return planOfOwner(file, present, { kind: 'team', id, name: `team ${name}`, ...place, body }, own);
    }),
  ]);
}

function planOfOwner(
  file: AccessFile,
  present: PresentAccess,
  owner: Owner,
  wanted: Readonly<Record<string, WantedKey>>,
): Plan {
  return joinPlans(Object.entries(wanted).map(([name, key]) => planOfKey(file, present, owner, name, key)));
}

function planOfKey(file: AccessFile, present: PresentAccess, owner: Owner, name: string, wanted: WantedKey): Plan {
  const place = [...owner.path, name];
  const [now, ...others] = present.keys.filter((key) => isLive(key) && belongs(key, owner) && key.name === name);
  if (others.length > 0) throw file.mistake(place, 'several keys have this name: revoke or rename the others first');
  if (typeof wanted.expiresAt === 'number' && wanted.expiresAt <= Date.now()) {
    if (now) throw file.mistake([...place, 'expiresAt'], 'is in the past: revoke the key instead');
    return { ...emptyPlan, left: [`key ${name} of ${owner.name || 'the router'}, which would have expired`] };
  }
  const locks = now && owner.isLocked ? locksMissing(now, wanted) : [];
  const fields = [...differences(now, wanted), ...locks];
  return planChange({
    does: now ? 'change' : 'create',
    what: `key ${name} of ${owner.name || 'the router'}`,
    fields: now ? fields : fields.filter(({ after }) => after !== null),
    ...(!now && { newKey: { owner: owner.name, name } }),
    make: async (maker) => {
      if (now) {
        const path = pathOf`/keys/${now.id}`;
        const ifMatch = await requireUnchanged(maker.client, path, fields);
        const body = locks.length === 0 ? changedFields(wanted, fields) : wanted;
        await maker.client.send('PATCH', path, { body, ifMatch });
        return undefined;
      }
      const body = { kind: owner.kind, ...owner.body(maker), ...wanted };
      const { value } = await maker.client.send<{ raw?: string }>('PUT', pathOf`/keys-by-name/${name}`, { body });
      return value.raw;
    },
  });
}

/** Returns the settings in the file that no administrator has set yet, even if the owner has set the same value. */
function locksMissing({ adminSet }: Key, { limits = {}, ...wanted }: WantedKey): Difference[] {
  const addedLocks = [
    ...Object.entries(wanted).flatMap(([name, value]) => (value === null || value === undefined ? [] : [name])),
    ...Object.keys(limits).map((name) => `limits.${name}`),
  ];
  const missing = addedLocks.filter((name) => !adminSet?.includes(name));
  return missing.length === 0
    ? []
    : [{ field: 'adminSet', before: adminSet, after: [...(adminSet ?? []), ...missing] }];
}

function isLive({ revokedAt, replacedBy, expiresAt = Infinity }: Key): boolean {
  return revokedAt === undefined && replacedBy === undefined && expiresAt > Date.now();
}

function belongs(key: Key, { kind, id }: Owner): boolean {
  return key.kind === kind && (kind === 'router' || (id !== undefined && key.owner?.id === id));
}

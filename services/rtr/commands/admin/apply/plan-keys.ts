import { buildPath } from '../admin-client.ts';
import type { Key } from '../../../../console/contract/keys.ts';
import type { WantedKey } from './access-schema.ts';
import { joinPlans, emptyPlan, planChange, type ChangeContext, type Plan, type PresentAccess } from './change.ts';
import { pickChangedFields, findDifferences, type Difference } from './find-differences.ts';
import type { AccessFile } from './read-access.ts';
import { requireUnchanged } from './require-unchanged.ts';

interface Owner {
  kind: Key['kind'];
  /** Id of the owner; undefined for the router, and for an owner that does not exist yet. */
  id: string | undefined;
  /** Name of the owner in sentences, such as `team Research`; empty for the router. */
  name: string;
  path: readonly string[];
  /** Whether the file's settings are locked against the owner: true for a team, and for a person who is not an administrator. */
  isLocked: boolean;
  /** Returns the fields that name the owner in a request. */
  toRequestFields: (context: ChangeContext) => object;
}

/**
 * Plans the changes of keys.
 * @throws RouterError for a name that several keys have, and for a time in the past
 */
export function planKeys(file: AccessFile, present: PresentAccess): Plan {
  const { people = {}, teams = {}, keys = {} } = file.access;
  const router: Owner = {
    kind: 'router',
    id: undefined,
    name: '',
    path: ['keys'],
    isLocked: false,
    toRequestFields: () => ({}),
  };
  return joinPlans([
    planKeysOfOwner(file, present, router, keys),
    ...Object.entries(people).map(([email, { keys: ownKeys = {}, blocked }]) => {
      const current = present.people.get(email);
      // A blocked person's keys are unusable, and new ones cannot be created.
      if (blocked ?? current?.blocked) {
        const left = Object.keys(ownKeys).map((name) => `key ${name} of ${email}, who is blocked`);
        return { ...emptyPlan, left };
      }
      const toRequestFields = (context: ChangeContext) => ({ userId: context.people.get(email) });
      const place = { path: ['people', email, 'keys'], isLocked: current?.role === 'member' };
      return planKeysOfOwner(
        file,
        present,
        { kind: 'user', id: current?.id, name: email, ...place, toRequestFields },
        ownKeys,
      );
    }),
    ...Object.entries(teams).map(([name, { keys: ownKeys = {} }]) => {
      const id = present.teams.get(name)?.[0]?.id;
      const toRequestFields = (context: ChangeContext) => ({ teamId: context.teams.get(name) });
      const place = { path: ['teams', name, 'keys'], isLocked: true };
      return planKeysOfOwner(
        file,
        present,
        { kind: 'team', id, name: `team ${name}`, ...place, toRequestFields },
        ownKeys,
      );
    }),
  ]);
}

function planKeysOfOwner(
  file: AccessFile,
  present: PresentAccess,
  owner: Owner,
  wanted: Readonly<Record<string, WantedKey>>,
): Plan {
  return joinPlans(Object.entries(wanted).map(([name, key]) => planKey(file, present, owner, name, key)));
}

function planKey(file: AccessFile, present: PresentAccess, owner: Owner, name: string, wanted: WantedKey): Plan {
  const place = [...owner.path, name];
  const [current, ...others] = present.keys.filter((key) => isLive(key) && isOwnedBy(key, owner) && key.name === name);
  if (others.length > 0)
    throw file.createError(place, 'several keys have this name: revoke or rename the others first');
  if (typeof wanted.expiresAt === 'number' && wanted.expiresAt <= Date.now()) {
    if (current) throw file.createError([...place, 'expiresAt'], 'is in the past: revoke the key instead');
    return { ...emptyPlan, left: [`key ${name} of ${owner.name || 'the router'}, which would have expired`] };
  }
  const locks = current && owner.isLocked ? findMissingLocks(current, wanted) : [];
  const fields = [...findDifferences(current, wanted), ...locks];
  return planChange({
    does: current ? 'change' : 'create',
    what: `key ${name} of ${owner.name || 'the router'}`,
    fields: current ? fields : fields.filter(({ after }) => after !== null),
    ...(!current && { newKey: { owner: owner.name, name } }),
    make: async (context) => {
      if (current) {
        const path = buildPath`/keys/${current.id}`;
        const ifMatch = await requireUnchanged(context.client, path, fields);
        const body = locks.length === 0 ? pickChangedFields(wanted, fields) : wanted;
        await context.client.send('PATCH', path, { body, ifMatch });
        return undefined;
      }
      const body = { kind: owner.kind, ...owner.toRequestFields(context), ...wanted };
      const { value } = await context.client.send<{ raw?: string }>('PUT', buildPath`/keys-by-name/${name}`, { body });
      return value.raw;
    },
  });
}

/** Returns the settings in the file that no administrator has set yet. They differ even if the owner has set the same values. */
function findMissingLocks({ adminSet }: Key, { limits = {}, ...wanted }: WantedKey): Difference[] {
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

function isOwnedBy(key: Key, { kind, id }: Owner): boolean {
  return key.kind === kind && (kind === 'router' || (id !== undefined && key.owner?.id === id));
}

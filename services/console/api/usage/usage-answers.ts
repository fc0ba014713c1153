import type { HourSums, HourGroup, HourGroupName } from '#shared/accounts/ledger/hour-groups.ts';
import type { UsageTotals } from '#shared/accounts/ledger/totals.ts';
import { toDollars } from '#shared/accounts/money.ts';
import type { Totals, UsageGroup } from '../../contract/usage.ts';
import type { LimitedParty } from '#shared/accounts/limits/limits.ts';
import { deletedName } from '#shared/accounts/people/delete-person.ts';
import { nameSenders } from './name-senders.ts';
import type { UsageParts } from './usage-parts.ts';

export function toTotalsAnswer(totals: UsageTotals): Totals {
  return { ...totals, cost: toDollars(totals.cost) };
}

export function toHourAnswer(sums: HourSums): HourSums {
  return { ...sums, cost: toDollars(sums.cost) };
}

/** Looks up the names of a report's groups, and returns a function that names a group. The name of a model or tier is its id. */
export async function findGroupNames(
  { usage, namesOf }: Pick<UsageParts, 'usage' | 'namesOf'>,
  by: UsageGroup,
  ids: readonly string[],
): Promise<(id: string) => string> {
  if (by === 'key') {
    const names = await usage.readKeyNames(ids);
    return (id) => names.get(id) ?? id;
  }
  if (by !== 'user' && by !== 'team') return (id) => (id === '' ? 'none' : id);
  const parties = ids.filter((id) => id !== '').map((id): LimitedParty => `${by}:${id}`);
  const names = await namesOf(parties);
  return (id) => {
    if (id === '') return 'none';
    return names.get(`${by}:${id}`) ?? (by === 'user' ? deletedName(id) : id);
  };
}

/** Does the same for groups of hours. `nameSenders` names the keys. */
export async function findHourGroupNames(
  parts: Pick<UsageParts, 'usage' | 'namesOf'>,
  by: HourGroupName,
  groups: readonly HourGroup[],
): Promise<(group: HourGroup) => string> {
  if (by === 'key') {
    const senderOf = await nameSenders(parts, groups);
    return (group) => senderOf(group).key?.name ?? group.id;
  }
  const nameOf = await findGroupNames(
    parts,
    by,
    groups.map(({ id }) => id),
  );
  return ({ id }) => nameOf(id);
}

import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { LimitedParty } from '#shared/accounts/limits/limits.ts';
import { toDollars } from '#shared/accounts/money.ts';
import type { UsageGroup, UsageRequest } from '../../contract/usage.ts';
import type { UsageParts } from './usage-parts.ts';

/** The names of a report's groups: those of people, teams and keys are looked up, models and tiers are their own. */
export async function groupNames(
  { usage, namesOf }: Pick<UsageParts, 'usage' | 'namesOf'>,
  by: UsageGroup,
  ids: readonly string[],
): Promise<(id: string) => string> {
  if (by === 'key') {
    const names = await usage.keyNames(ids);
    return (id) => names.get(id) ?? id;
  }
  if (by !== 'user' && by !== 'team') return (id) => (id === '' ? 'none' : id);
  const parties = ids.filter((id) => id !== '').map((id): LimitedParty => `${by}:${id}`);
  const names = await namesOf(parties);
  return (id) => (id === '' ? 'none' : (names.get(`${by}:${id}`) ?? id));
}

/** Converts the ledger's records to the contract's requests. Looks up each name once. */
export function requestAnswers({ namesOf }: Pick<UsageParts, 'namesOf'>) {
  const known = new Map<LimitedParty, string>();
  return async (records: readonly UsageRecord[]): Promise<UsageRequest[]> => {
    const parties = records.flatMap(({ owner }): LimitedParty[] => (owner ? [`${owner.kind}:${owner.id}`] : []));
    const unknown = [...new Set(parties)].filter((party) => !known.has(party));
    if (unknown.length > 0) {
      const names = await namesOf(unknown);
      for (const party of unknown) known.set(party, names.get(party) ?? party.slice(party.indexOf(':') + 1));
    }
    return records.map(({ owner, cost, ...record }) => ({
      ...record,
      ...(owner && { owner: { ...owner, name: known.get(`${owner.kind}:${owner.id}`) ?? owner.id } }),
      cost: toDollars(cost),
    }));
  };
}

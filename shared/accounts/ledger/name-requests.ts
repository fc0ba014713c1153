import type { LimitedParty } from '../limits/limits.ts';
import { toDollars } from '../money.ts';
import type { UsageRecord } from './usage-record.ts';

/** A request that is over, as people read it: with the name of its owner, and its cost in dollars. */
export type NamedRequest = Omit<UsageRecord, 'owner'> & { owner?: { kind: 'user' | 'team'; id: string; name: string } };

/** The names of people and teams; deleted ones may be missing. */
export type NamesOf = (parties: readonly LimitedParty[]) => Promise<ReadonlyMap<LimitedParty, string>>;

/** Converts the ledger's records, and looks up each name once. A deleted owner is called by the id. */
export function nameRequests(namesOf: NamesOf): (records: readonly UsageRecord[]) => Promise<NamedRequest[]> {
  const known = new Map<LimitedParty, string>();
  return async (records) => {
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

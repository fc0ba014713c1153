import { toKeyWithOwner, computeSessionId, toSessionOwner } from './agent-sessions/session-names.ts';
import type { LimitedParty } from '../limits/limits.ts';
import { toDollars } from '../money.ts';
import { deletedName } from '../people/delete-person.ts';
import { parsePersonIdentity } from '../people/person-identity.ts';
import type { UsageRecord } from './usage-record.ts';

/** A finished request, with the name of its owner, the id of its agent session, and its cost in dollars, for people to read. */
export type NamedRequest = Omit<UsageRecord, 'owner'> & {
  owner?: { kind: 'user' | 'team'; id: string; name: string };
  sessionId?: string;
};

/** Returns the names of people and teams. The names of deleted people and teams may be missing. */
export type FindNames = (parties: readonly LimitedParty[]) => Promise<ReadonlyMap<LimitedParty, string>>;

/**
 * Returns a function that converts records of the ledger and looks up each name once. A deleted person gets a pseudonym. The pseudonym also
 * replaces the names of their keys, and their own name where it is stored as the name of a key. A deleted team is named by its id.
 */
export function nameRequests(findNames: FindNames): (records: readonly UsageRecord[]) => Promise<NamedRequest[]> {
  const known = new Map<LimitedParty, string | undefined>();
  return async (records) => {
    const parties = records.flatMap((record): LimitedParty[] => [...listParties(record)]);
    const unknown = [...new Set(parties)].filter((party) => !known.has(party));
    if (unknown.length > 0) {
      const names = await findNames(unknown);
      for (const party of unknown) known.set(party, names.get(party));
    }
    return records.map(({ owner, cost, key, ...record }) => ({
      ...record,
      key: { ...key, name: findKeyName(key, owner) },
      ...(owner && { owner: { ...owner, name: findOwnerName(owner) } }),
      ...(record.turn && { sessionId: toSessionId({ key, owner }, record.turn.session) }),
      cost: toDollars(cost),
    }));
  };

  function findOwnerName({ kind, id }: { kind: 'user' | 'team'; id: string }): string {
    return known.get(`${kind}:${id}`) ?? (kind === 'user' ? deletedName(id) : id);
  }

  /** Returns the name of a key. If the key belonged to a deleted person, returns the pseudonym of that person. */
  function findKeyName(key: UsageRecord['key'], owner: UsageRecord['owner']): string {
    const person = parsePersonIdentity(key.id)?.userId ?? (owner?.kind === 'user' ? owner.id : undefined);
    return person !== undefined && known.get(`user:${person}`) === undefined ? deletedName(person) : key.name;
  }
}

function toSessionId(record: Pick<UsageRecord, 'key' | 'owner'>, name: string): string {
  return computeSessionId(toSessionOwner(toKeyWithOwner(record)), name);
}

function* listParties({ owner, key }: UsageRecord): Generator<LimitedParty> {
  if (owner) yield `${owner.kind}:${owner.id}`;
  const person = parsePersonIdentity(key.id);
  if (person) yield `user:${person.userId}`;
}

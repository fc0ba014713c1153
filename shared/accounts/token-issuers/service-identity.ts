import { hasLimits, type KeyIdentity } from '../keys/key-record.ts';
import type { PartyLimits } from '../limits/limits.ts';
import { applyCeilings } from '../people/ceiling.ts';
import type { IdentityParty } from '../people/person-identity.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { AcceptedIssuer, ServiceAccount } from './token-issuer.ts';

const servicePrefix = 'service:';
const teamPrefix = 'team:';

/** Returns the party that the use of a service account is counted for. */
export function partyOfService(name: string): `key:${string}` {
  return `key:${servicePrefix}${name}`;
}

/** Returns the identity of a workload. It is like the identity of a router key. */
export function identityOfService({
  name,
  class: priority,
  models,
  tiers,
  tools,
  limits,
}: ServiceAccount): KeyIdentity {
  const ownLimits: PartyLimits[] = hasLimits(limits) ? [{ party: partyOfService(name), limits }] : [];
  return Object.freeze({
    id: servicePrefix + name,
    kind: 'router',
    name,
    class: priority,
    ownerId: undefined,
    models,
    tiers,
    tools,
    limits: ownLimits,
  });
}

/** Returns the identity of a team's workload. It is like the identity of a key of the team. */
export function identityOfTeam(team: IdentityParty, priority: PriorityClass = 'normal'): KeyIdentity {
  const { id, name, limits, weight, ceiling } = team;
  const ownLimits: PartyLimits[] = hasLimits(limits) ? [{ party: `team:${id}`, limits }] : [];
  return Object.freeze({
    id: teamPrefix + id,
    kind: 'team',
    name,
    ownerId: id,
    models: undefined,
    tools: undefined,
    limits: ownLimits,
    ownerWeight: weight,
    ...applyCeilings([ceiling], { class: priority, tiers: undefined }),
  });
}

/** Returns the name of the service account with this identity's id; undefined for any other id. */
export function serviceOfIdentity(id: string): string | undefined {
  return id.startsWith(servicePrefix) ? id.slice(servicePrefix.length) : undefined;
}

/** Returns the id of the team with this identity's id; undefined for any other id. */
export function teamOfIdentity(id: string): string | undefined {
  return id.startsWith(teamPrefix) ? id.slice(teamPrefix.length) : undefined;
}

/** Returns the service accounts of all rules. An account that is in several rules is returned several times. */
export function listServiceAccounts(issuers: readonly Pick<AcceptedIssuer, 'rules'>[]): ServiceAccount[] {
  return issuers.flatMap(({ rules }) => rules.flatMap(({ serviceAccount }) => serviceAccount ?? []));
}

/** Returns a service account by its name, with what the current rules grant it; undefined if no rule has such an account. */
export function findServiceAccount(
  issuers: readonly Pick<AcceptedIssuer, 'rules'>[],
  name: string,
): ServiceAccount | undefined {
  return listServiceAccounts(issuers).find((account) => account.name === name);
}

import { hasLimits, type KeyIdentity } from '../../keys/key-record.ts';
import type { PartyLimits } from '../../limits/limits.ts';
import { applyCeilings } from '../../people/ceiling.ts';
import type { IdentityParty } from '../../people/person-identity.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { AcceptedIssuer, ServiceAccount } from './token-issuer.ts';

const servicePrefix = 'service:';
const teamPrefix = 'team:';

/** Returns the party for which the use of a service account is counted. */
export function toServiceParty(name: string): `key:${string}` {
  return `key:${servicePrefix}${name}`;
}

/** Returns the identity of a service account. It resembles the identity of a router key. */
export function createServiceIdentity({
  name,
  class: priority,
  models,
  tiers,
  tools,
  limits,
}: ServiceAccount): KeyIdentity {
  const ownLimits: PartyLimits[] = hasLimits(limits) ? [{ party: toServiceParty(name), limits }] : [];
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

/** Returns the identity of a token that stands for a team. It resembles the identity of a key of the team. */
export function createTeamIdentity(team: IdentityParty, priority: PriorityClass = 'normal'): KeyIdentity {
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

/** Returns the name of the service account in the id of an identity; undefined if the identity is not of a service account. */
export function parseServiceName(id: string): string | undefined {
  return id.startsWith(servicePrefix) ? id.slice(servicePrefix.length) : undefined;
}

/** Returns the id of the team in the id of an identity; undefined if the identity is not of a team. */
export function parseTeamId(id: string): string | undefined {
  return id.startsWith(teamPrefix) ? id.slice(teamPrefix.length) : undefined;
}

/** Returns the service accounts of all rules, with duplicates if several rules name the same account. */
export function listServiceAccounts(issuers: readonly Pick<AcceptedIssuer, 'rules'>[]): ServiceAccount[] {
  return issuers.flatMap(({ rules }) => rules.flatMap(({ serviceAccount }) => serviceAccount ?? []));
}

/** Returns the service account with this name in the rules; undefined if no rule names it. */
export function findServiceAccount(
  issuers: readonly Pick<AcceptedIssuer, 'rules'>[],
  name: string,
): ServiceAccount | undefined {
  return listServiceAccounts(issuers).find((account) => account.name === name);
}

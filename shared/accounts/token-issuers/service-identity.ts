import { hasLimits, type KeyIdentity } from '../keys/key-record.ts';
import type { PartyLimits } from '../limits/limits.ts';
import { capBy } from '../people/ceiling.ts';
import type { IdentityParty } from '../people/person-identity.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { AcceptedIssuer, ServiceAccount } from './token-issuer.ts';

const servicePrefix = 'service:';
const teamPrefix = 'team:';

/** The identity of a workload: as if with a router key of its own. */
export function identityOfService({
  name,
  class: priority,
  models,
  tiers,
  tools,
  limits,
}: ServiceAccount): KeyIdentity {
  const id = servicePrefix + name;
  const own: PartyLimits[] = hasLimits(limits) ? [{ party: `key:${id}`, limits }] : [];
  return Object.freeze({
    id,
    kind: 'router',
    name,
    class: priority,
    ownerId: undefined,
    models,
    tiers,
    tools,
    limits: own,
  });
}

/** The identity of a team's workload, as if with a key of the team. */
export function identityOfTeam(team: IdentityParty, priority: PriorityClass = 'normal'): KeyIdentity {
  const { id, name, limits, weight, ceiling } = team;
  const own: PartyLimits[] = hasLimits(limits) ? [{ party: `team:${id}`, limits }] : [];
  return Object.freeze({
    id: teamPrefix + id,
    kind: 'team',
    name,
    ownerId: id,
    models: undefined,
    tools: undefined,
    limits: own,
    ownerWeight: weight,
    ...capBy([ceiling], { class: priority, tiers: undefined }),
  });
}

/** The name of the service account whose identity has this id; undefined for any other. */
export function serviceOfIdentity(id: string): string | undefined {
  return id.startsWith(servicePrefix) ? id.slice(servicePrefix.length) : undefined;
}

/** The id of the team whose identity has this id; undefined for any other. */
export function teamOfIdentity(id: string): string | undefined {
  return id.startsWith(teamPrefix) ? id.slice(teamPrefix.length) : undefined;
}

/** A service account by its name, as the rules grant it now. */
export function findServiceAccount(
  issuers: readonly Pick<AcceptedIssuer, 'rules'>[],
  name: string,
): ServiceAccount | undefined {
  const accounts = issuers.flatMap(({ rules }) => rules.flatMap(({ serviceAccount }) => serviceAccount ?? []));
  return accounts.find((account) => account.name === name);
}

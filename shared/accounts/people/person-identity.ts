import { hasLimits, type KeyIdentity } from '../keys/key-record.ts';
import type { Limits, PartyLimits } from '../limits/limits.ts';
import { applyCeilings, type Ceiling } from './ceiling.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';

/** Start of the id of a person's identity. It is `session:<person>`, or `session:<person>:<team>` if they use the team's account. */
const idPrefix = 'session:';

export interface IdentityParty {
  id: string;
  name: string;
  limits?: Limits | undefined;
  weight?: number | undefined;
  ceiling?: Ceiling | undefined;
}

/**
 * Returns the identity of a person who is signed in to the console or to a program. It has the form of a key's identity. If the person uses
 * a team's account, the team is the owner, and the limits and ceilings of both apply.
 */
export function createPersonIdentity(
  person: IdentityParty,
  team?: IdentityParty,
  priority: PriorityClass = 'normal',
): KeyIdentity {
  const limits: PartyLimits[] = [];
  if (hasLimits(person.limits)) limits.push({ party: `user:${person.id}`, limits: person.limits });
  if (team && hasLimits(team.limits)) limits.push({ party: `team:${team.id}`, limits: team.limits });
  return Object.freeze({
    id: `${idPrefix}${person.id}${team ? `:${team.id}` : ''}`,
    kind: team ? 'team' : 'user',
    name: person.name,
    ownerId: (team ?? person).id,
    models: undefined,
    tools: undefined,
    limits,
    ownerWeight: (team ?? person).weight,
    ...applyCeilings([person.ceiling, team?.ceiling], { class: priority, tiers: undefined }),
  });
}

/** Returns the person in an identity's id, and the team if the person uses a team's account; undefined for the identity of a key. */
export function parsePersonIdentity(id: string): { userId: string; teamId: string | undefined } | undefined {
  if (!id.startsWith(idPrefix)) return undefined;
  const [userId = '', teamId] = id.slice(idPrefix.length).split(':');
  return { userId, teamId };
}

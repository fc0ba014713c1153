import { displayNameSchema, emailSchema, type UserRole } from '#shared/accounts/people/user.ts';
import type { SignInProvider } from '#shared/registry/sign-in.ts';

/** The claims of an ID token. */
export type Claims = Readonly<Record<string, unknown>>;

/** A person as their provider describes them, with the role and the teams that the registry gives them. */
export interface ProvidedPerson {
  name: string;
  email: string;
  /** Undefined: the registry's rules do not mention roles. */
  role: UserRole | undefined;
  /** The names of all teams that the registry's rules mention, each with whether the person is in the team. */
  teams: ReadonlyMap<string, boolean>;
}

export type Refusal = 'no_address' | 'not_verified' | 'not_admitted';

/** Reads a person from the claims of a provider. Returns a refusal if the person is not admitted. */
export function readPerson(provider: SignInProvider, claims: Claims): ProvidedPerson | Refusal {
  const email = emailSchema.safeParse(claims['email']).data;
  if (email === undefined) return 'no_address';
  // Some providers send `email_verified` as a text.
  const verified = claims['email_verified'];
  if (verified !== true && verified !== 'true' && !(provider.trust_email && verified === undefined))
    return 'not_verified';
  const personGroups = readGroups(claims[provider.groups_claim]);
  const matching = provider.groups.filter(({ group }) => personGroups.has(group));
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const isAdmitted = provider.domains.includes('*') || provider.domains.includes(domain) || matching.length > 0;
  if (!isAdmitted) return 'not_admitted';
  const setsRoles = provider.groups.some(({ role }) => role !== undefined);
  const role = matching.some(({ role }) => role === 'admin') ? 'admin' : 'member';
  const personTeams = new Set(matching.flatMap(({ teams }) => teams));
  return {
    name: displayNameSchema.safeParse(claims['name']).data ?? displayNameSchema.safeParse(email).data ?? email,
    email,
    role: setsRoles ? role : undefined,
    teams: new Map(provider.groups.flatMap(({ teams }) => teams.map((team) => [team, personTeams.has(team)]))),
  };
}

function readGroups(claim: unknown): ReadonlySet<string> {
  if (typeof claim === 'string') return new Set([claim]);
  return new Set(Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : []);
}

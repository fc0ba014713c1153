import type { Accounts } from '#shared/accounts/accounts.ts';
import type { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { mayLinkByEmail, type UserRecord } from '#shared/accounts/people/user.ts';
import type { SignInProvider } from '#shared/registry/sign-in.ts';
import type { Logger } from '#shared/core/log.ts';
import { announceChange, writeAudit, type ApiParts } from '../api-parts.ts';
import { readPerson, type Claims, type ProvidedPerson, type Refusal } from './read-person.ts';

export interface AdmitParts {
  accounts: Accounts;
  externals: ExternalAccounts;
  announce: ApiParts['announce'];
  log: Logger;
}

type Admission = UserRecord | Refusal | 'other_account' | 'unconfirmed_address' | 'blocked';

/**
 * Returns the account of a person who has signed in at a provider, or why the person is not admitted. The account is the linked one, or
 * else one with the same address that may be linked, or else a new one. Sets the role and teams that the registry's rules for the provider
 * name.
 */
export async function admitPerson(
  parts: AdmitParts,
  provider: SignInProvider,
  claims: Claims & { sub: string },
): Promise<Admission> {
  const person = readPerson(provider, claims);
  if (typeof person === 'string') return person;
  return admit(parts, provider, await findOrCreatePerson(parts, provider, claims.sub, person), person);
}

/**
 * Admits a person to the account with this id after their provider was asked again. Unlike `admitPerson`, neither links nor creates an
 * account.
 */
export async function admitAgain(
  parts: AdmitParts,
  provider: SignInProvider,
  claims: Claims,
  id: string,
): Promise<Admission> {
  const person = readPerson(provider, claims);
  if (typeof person === 'string') return person;
  return admit(parts, provider, await findLinkedPerson(parts, id, person.email), person);
}

async function admit(
  parts: AdmitParts,
  provider: SignInProvider,
  user: UserRecord | 'unconfirmed' | 'blocked' | undefined,
  person: ProvidedPerson,
): Promise<Admission> {
  if (user === undefined) return 'other_account';
  if (user === 'unconfirmed') return 'unconfirmed_address';
  if (user === 'blocked' || user.blockedAt !== undefined) return 'blocked';
  await applyRules(parts, provider, user, person);
  return (await parts.accounts.users.find(user.id)) ?? 'other_account';
}

async function findOrCreatePerson(
  parts: AdmitParts,
  { name: provider, issuer }: SignInProvider,
  sub: string,
  { name, email, role = 'member' }: ProvidedPerson,
): Promise<UserRecord | 'unconfirmed' | 'blocked' | undefined> {
  const { accounts, externals } = parts;
  const account = { provider, issuer, subject: sub };
  /**
   * Returns the person to whom the account is linked. Called again after a failed link, because another window may have linked the account
   * meanwhile.
   */
  const findLinked = async (): Promise<UserRecord | undefined> => {
    const personId = await externals.findPerson(account);
    return personId === undefined ? undefined : findLinkedPerson(parts, personId, email);
  };
  const linkedPerson = await findLinked();
  if (linkedPerson) return linkedPerson;
  const personWithEmail = await accounts.users.findByEmail(email);
  if (personWithEmail) {
    if (await externals.find(personWithEmail.id)) return findLinked();
    if (!mayLinkByEmail(personWithEmail)) return 'unconfirmed';
    // Linking would remove the password and second factors of a blocked person.
    if (personWithEmail.blockedAt !== undefined) return 'blocked';
    const isLinked = await announceChange(parts, `user:${personWithEmail.id}`, () =>
      externals.link(personWithEmail, account),
    );
    if (!isLinked) return findLinked();
    await auditPerson(parts, personWithEmail, 'user.link', { provider });
    return personWithEmail;
  }
  const created = await externals.create(
    { ...account, name, email, role },
    await accounts.settings.readNewPersonSettings(role),
  );
  if (typeof created === 'string') return findLinked();
  await auditPerson(parts, created, 'user.create', { provider, email, role });
  return created;
}

/**
 * Returns the person of a linked account. If the provider names the same address as the person's record, marks that address as confirmed
 * and used.
 */
async function findLinkedPerson({ accounts: { users } }: AdmitParts, id: string, email: string) {
  const user = await users.find(id);
  if (user?.email === email && (user.confirmedEmail !== email || user.usedEmail !== email))
    await users.noteEmail(id, email, { confirmed: true, used: true });
  return user;
}

/**
 * Applies the provider's rules to a person. Sets the role that the rules name, adds the person to the teams that match, and removes the
 * person from the other teams that the rules mention. Teams that no rule mentions stay as they are, and an owner of a team stays an owner.
 */
async function applyRules(
  parts: AdmitParts,
  { name: provider }: SignInProvider,
  user: UserRecord,
  { role, teams }: ProvidedPerson,
): Promise<void> {
  const { accounts, log } = parts;
  if (role !== undefined && role !== user.role) {
    // Ingress nodes cache, with the owners of keys, whether a person is an administrator.
    const outcome = await announceChange(parts, `user:${user.id}`, () =>
      accounts.users.change(user.id, { role }, Date.now()),
    );
    if (outcome === 'last admin') log.warn({ user: user.id, provider }, 'the last administrator keeps the role');
    if (typeof outcome !== 'string' && outcome.role !== role)
      await auditPerson(parts, user, 'user.role', { provider, before: outcome.role, after: role });
  }
  if (teams.size === 0) return;
  const [allTeams, memberships] = await Promise.all([accounts.teams.list(), accounts.teams.teamsOf(user.id)]);
  for (const [name, isMember] of teams) {
    const team = allTeams.find((each) => each.name === name);
    if (!team) log.warn({ team: name, provider }, 'a rule of sign_in names a team that does not exist');
    else if (isMember && !memberships.has(team.id)) {
      await accounts.teams.setMember(team.id, user.id, 'member');
      await auditPerson(parts, user, 'team.member.add', { provider, team: { id: team.id, name } });
    } else if (!isMember && memberships.get(team.id) === 'member') {
      // Access tokens for the team work until the ingress nodes are notified.
      await announceChange(parts, `user:${user.id}`, () => accounts.teams.removeMember(team.id, user.id));
      await auditPerson(parts, user, 'team.member.remove', { provider, team: { id: team.id, name } });
    }
  }
}

function auditPerson(parts: AdmitParts, { id, name }: UserRecord, action: string, details: Record<string, unknown>) {
  return writeAudit(parts, null, { action, target: { kind: 'user', id, name }, details });
}

import type { Accounts } from '#shared/accounts/accounts.ts';
import type { ExternalAccounts } from '#shared/accounts/external-accounts/external-accounts.ts';
import { mayLinkByEmail, type UserRecord } from '#shared/accounts/people/user.ts';
import type { SignInProvider } from '#shared/registry/sign-in.ts';
import type { Logger } from '#shared/core/log.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { readPerson, type Claims, type ProvidedPerson, type Refusal } from './read-person.ts';

export interface AdmitParts {
  accounts: Accounts;
  externals: ExternalAccounts;
  announce: ApiParts['announce'];
  log: Logger;
}

type Admission = UserRecord | Refusal | 'other_account' | 'unconfirmed_address' | 'blocked';

/**
 * Returns the account of a person who has proven who they are at a provider. This is the linked account, an account with the same verified
 * address that is known to be theirs, or a new one. Sets the role and teams that the registry's rules for the provider name.
 */
export async function admitPerson(
  parts: AdmitParts,
  provider: SignInProvider,
  claims: Claims & { sub: string },
): Promise<Admission> {
  const person = readPerson(provider, claims);
  if (typeof person === 'string') return person;
  return admit(parts, provider, await findOrMake(parts, provider, claims.sub, person), person);
}

/**
 * Admits a person whose provider was asked again, as `admitPerson` does, to the account with this id. It links no account and creates none.
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

async function findOrMake(
  parts: AdmitParts,
  { name: provider, issuer }: SignInProvider,
  sub: string,
  { name, email, role = 'member' }: ProvidedPerson,
): Promise<UserRecord | 'unconfirmed' | 'blocked' | undefined> {
  const { accounts, externals } = parts;
  const account = { provider, issuer, subject: sub };
  /** Returns the person whose account is linked, even if another window of theirs has linked it meanwhile. */
  const whoCame = async (): Promise<UserRecord | undefined> => {
    const known = await externals.findPerson(account);
    return known === undefined ? undefined : findLinkedPerson(parts, known, email);
  };
  const known = await whoCame();
  if (known) return known;
  const same = await accounts.users.findByEmail(email);
  if (same) {
    if (await externals.find(same.id)) return whoCame();
    if (!mayLinkByEmail(same)) return 'unconfirmed';
    // Linking would remove the password and second factors of a blocked person.
    if (same.blockedAt !== undefined) return 'blocked';
    if (!(await externals.link(same, account))) return whoCame();
    await parts.announce(`user:${same.id}`);
    await note(parts, same, 'user.link', { provider });
    return same;
  }
  const made = await externals.create(
    { ...account, name, email, role },
    await accounts.settings.readNewPersonSettings(role),
  );
  if (typeof made === 'string') return whoCame();
  await note(parts, made, 'user.create', { provider, email, role });
  return made;
}

/**
 * Returns a person whose account is linked already. Marks their address here as confirmed and used if the provider names the same address.
 */
async function findLinkedPerson({ accounts: { users } }: AdmitParts, id: string, email: string) {
  const user = await users.find(id);
  if (user?.email === email && (user.confirmedEmail !== email || user.usedEmail !== email))
    await users.noteEmail(id, email, { confirmed: true, used: true });
  return user;
}

/** Gives a person the role and the teams that the rules name, and leaves all other teams alone. An owner of a team stays an owner. */
async function applyRules(
  parts: AdmitParts,
  { name: provider }: SignInProvider,
  user: UserRecord,
  { role, teams }: ProvidedPerson,
): Promise<void> {
  const { accounts, announce, log } = parts;
  if (role !== undefined && role !== user.role) {
    const outcome = await accounts.users.change(user.id, { role }, Date.now());
    if (outcome === 'last admin') log.warn({ user: user.id, provider }, 'the last administrator keeps the role');
    if (outcome === 'changed') await note(parts, user, 'user.role', { provider, before: user.role, after: role });
  }
  if (teams.size === 0) return;
  const [all, mine] = await Promise.all([accounts.teams.list(), accounts.teams.teamsOf(user.id)]);
  for (const [name, belongs] of teams) {
    const team = all.find((each) => each.name === name);
    if (!team) log.warn({ team: name, provider }, 'there is no team of a name in the rules of sign_in');
    else if (belongs && !mine.has(team.id)) {
      await accounts.teams.setMember(team.id, user.id, 'member');
      await note(parts, user, 'team.member.add', { provider, team: { id: team.id, name } });
    } else if (!belongs && mine.get(team.id) === 'member') {
      await accounts.teams.removeMember(team.id, user.id);
      // The ingress nodes are told at once, because tokens of the team work until then.
      await announce(`user:${user.id}`);
      await note(parts, user, 'team.member.remove', { provider, team: { id: team.id, name } });
    }
  }
}

function note(parts: AdmitParts, { id, name }: UserRecord, action: string, details: Record<string, unknown>) {
  return record(parts, null, { action, target: { kind: 'user', id, name }, details });
}

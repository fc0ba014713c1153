import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as oidc from 'openid-client';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import {
  checkMs,
  type ExternalAccount,
  type KeptAccount,
} from '#shared/accounts/external-accounts/external-accounts.ts';
import { isSameIssuer } from '#shared/accounts/external-accounts/issuer-forms.ts';
import type { Confirm, Confirmation } from '#shared/accounts/sign-in/confirmation.ts';
import type { SignInProvider, SignInSettings } from '#shared/registry/sign-in.ts';
import { admitAgain, type AdmitParts } from './admit-person.ts';
import { answeredError, refusesPerson, type ProviderClients } from './provider-clients.ts';

export interface ConfirmParts extends AdmitParts {
  signIn: () => SignInSettings;
  clients: ProviderClients;
}

/** Milliseconds for which the last answer of a provider counts, unless its access token ends before. */
const longestMs = 3_600_000;

/** Milliseconds for which a person goes on while their provider cannot be asked. */
const outageMs = 3_600_000;

/**
 * Milliseconds for which, and after which, a refresh token is kept again when the store does not answer: a replica may have to take over. With
 * the time that the provider has, less than `checkMs`.
 */
const keepForMs = 20_000;
const keepAgainMs = 1_000;

/** Milliseconds from which an answer of a provider, or its absence, is slow. */
const slowMs = 750;

/** Milliseconds between two looks at what another node, which asks the provider, has found out. */
const lookMs = 100;

/**
 * Until when the answer of a provider counts: as long as its access token lasts, an hour at most. Without a refresh token it cannot be
 * asked again, so a person stays for as long as the registry says.
 */
export function goodUntil(
  refreshToken: string | undefined,
  expiresIn: number | undefined,
  sessionHours: number,
): number {
  if (refreshToken === undefined) return Date.now() + sessionHours * 3_600_000;
  return Date.now() + Math.min(longestMs, (expiresIn ?? longestMs / 1_000) * 1_000);
}

/**
 * Whether a person whom a provider has let in is still let in there. When its last answer is too old, it is asked again, by one node at a
 * time. Somebody whom it refuses loses all sessions, programs and admin tokens. While it cannot be asked, nobody loses anything: a person
 * goes on for an hour, and is then `unknown`.
 */
export function personConfirmer(parts: ConfirmParts): Confirm {
  const { externals } = parts;
  return async (user) => {
    const account = await externals.find(user.id);
    if (!account) return 'refused';
    if (isGood(account)) return 'confirmed';
    const mark = await externals.beginCheck(user.id);
    if (mark === undefined) return goesOn(account) ? 'confirmed' : afterOther(parts, user);
    const askedAt = performance.now();
    let outcome: Confirmation | undefined;
    try {
      outcome = await check(parts, user);
      return outcome;
    } finally {
      const isSlow = outcome === 'confirmed' && performance.now() - askedAt >= slowMs;
      const now = isSlow ? await externals.find(user.id) : undefined;
      // Otherwise the mark ends by itself: until then, nobody waits for a provider that hangs, as long as they all go on.
      if (!now || isGood(now) || !goesOn(now, checkMs)) await externals.endCheck(user.id, mark);
    }
  };
}

/**
 * As `personConfirmer`, for what lasts longer than sessions: admin tokens and keys. Those of somebody about whom no provider can be asked,
 * now or later, stay.
 * @param confirm of `personConfirmer`
 */
export function holderConfirmer({ externals, signIn }: ConfirmParts, confirm: Confirm): Confirm {
  return async (user) => {
    if (user.passwordHash !== '') return 'confirmed';
    const account = await externals.find(user.id);
    const provider = account && providerOf(signIn(), account);
    const isAsked = provider && account.isOffline && (account.isSealed || account.refreshToken !== undefined);
    return isAsked ? confirm(user) : 'confirmed';
  };
}

/** The provider of an account, as the same client of which the router can ask about it; undefined if there is none. */
function providerOf({ providers }: SignInSettings, account: ExternalAccount): SignInProvider | undefined {
  return providers.find(
    ({ name, issuer, client_id: id }) =>
      name === account.provider && isSameIssuer(issuer, account.issuer) && (account.clientId ?? id) === id,
  );
}

function isGood({ goodUntil: until }: ExternalAccount): boolean {
  return Date.now() < until;
}

/** Whether a person goes on without a new answer of the provider, also after so many milliseconds. */
function goesOn({ goodUntil: until }: ExternalAccount, afterMs = 0): boolean {
  return Date.now() + afterMs < until + outageMs;
}

/** What another node has found out, which asks the provider about a person now. */
async function afterOther(parts: ConfirmParts, user: UserRecord): Promise<Confirmation> {
  const { externals } = parts;
  const deadline = performance.now() + checkMs;
  for (;;) {
    // At different times, so that those who wait do not ask the store all at once.
    await sleep(lookMs * (1 + Math.random()));
    const isOver = performance.now() >= deadline || !(await externals.isChecked(user.id));
    const account = await externals.find(user.id);
    if (!account) return 'refused';
    if (isGood(account)) return 'confirmed';
    if (isOver) return (await isOut(parts, user)) ? 'refused' : 'unknown';
  }
}

/** Asks the provider about a person, as the only node that does, unless that has become needless. */
async function check(parts: ConfirmParts, user: UserRecord): Promise<Confirmation> {
  const { externals, log } = parts;
  // As it is now: another node may have asked since, and what it has used of a refresh token must not be used again.
  const account = await externals.find(user.id);
  if (!account || (await isOut(parts, user))) return 'refused';
  if (isGood(account)) return 'confirmed';
  try {
    return await ask(parts, user, account);
  } catch (error) {
    const answered = answeredError(error);
    if (refusesPerson(error))
      return signOut(parts, user, account, answered.error === 'access_denied' ? 'denied' : 'ended');
    const facts = { err: error, answered, provider: account.provider, user: user.id };
    log.warn(facts, 'a provider cannot be asked about a person');
    return goesOn(account) ? 'confirmed' : 'unknown';
  }
}

async function ask(parts: ConfirmParts, user: UserRecord, account: KeptAccount): Promise<Confirmation> {
  const { externals, clients, signIn } = parts;
  const provider = providerOf(signIn(), account);
  if (!provider) return signOut(parts, user, account, 'not asked');
  if (account.isSealed) throw new Error('the refresh token was sealed with a secret that is not known here');
  if (account.refreshToken === undefined) return signOut(parts, user, account, 'not asked');
  const tokens = await oidc.refreshTokenGrant(await clients.of(provider), account.refreshToken);
  const refreshToken = tokens.refresh_token ?? account.refreshToken;
  // At once: the one before may be used up. That the person may stay is only known below.
  const kept = await keepPatiently(
    externals,
    user.id,
    { ...account, refreshToken, clientId: provider.client_id },
    account,
  );
  if (!kept) return afterNewer(parts, user);
  const claims = tokens.claims();
  // A provider need not give a new ID token. With one, groups and address count anew.
  if (claims) {
    const admitted = claims.sub === account.subject && (await admitAgain(parts, provider, claims, user.id));
    if (typeof admitted !== 'object') return signOut(parts, user, kept, 'denied');
  }
  const until = goodUntil(refreshToken, tokens.expires_in, provider.session_hours);
  return (await externals.keep(user.id, { ...kept, goodUntil: until }, kept)) ? 'confirmed' : afterNewer(parts, user);
}

/** Keeps a refresh token that may be the only one that is good now, also when the store comes back only after a while. */
async function keepPatiently(
  externals: ConfirmParts['externals'],
  userId: string,
  account: ExternalAccount,
  over: KeptAccount,
): Promise<KeptAccount | undefined> {
  // One for all attempts: the store may have kept it, and only its reply was lost.
  const turn = randomUUID();
  const deadline = performance.now() + keepForMs;
  for (;;) {
    try {
      return await externals.keep(userId, account, over, turn);
    } catch (error) {
      if (performance.now() >= deadline) throw error;
      await sleep(keepAgainMs);
    }
  }
}

/** How somebody stands whose account has changed since the provider was asked: they were deleted, or have signed in. */
async function afterNewer({ externals }: ConfirmParts, { id }: UserRecord): Promise<Confirmation> {
  const account = await externals.find(id);
  if (!account) return 'refused';
  return isGood(account) ? 'confirmed' : 'unknown';
}

/** Whether what a person has had ended since their record was read. */
async function isOut({ accounts }: ConfirmParts, { id, epoch }: UserRecord): Promise<boolean> {
  const user = await accounts.users.find(id);
  return user?.epoch !== epoch || user.blockedAt !== undefined;
}

/**
 * Ends what somebody has whom their provider has not confirmed, and why: it has said that they may not come in (`denied`), has taken a refresh
 * token no more (`ended`), or cannot be asked about them. Admin tokens and keys stay in the last case, and keys stay if refresh tokens of the
 * provider end with the sessions there. Nothing ends of somebody who has signed in at the provider since it was asked.
 */
async function signOut(
  parts: ConfirmParts,
  user: UserRecord,
  account: KeptAccount,
  why: 'denied' | 'ended' | 'not asked',
): Promise<Confirmation> {
  const { announce, log } = parts;
  const { users } = parts.accounts;
  if (why === 'not asked') {
    // Of somebody who was deleted meanwhile nothing is written.
    if (!(await users.find(user.id))) return 'refused';
    await users.endSessions(user.id);
  } else {
    const endsKeys = why === 'denied' || account.isOffline === true;
    if (!(await users.refuse(user.id, { endsKeys, turn: account.turn ?? '' }))) return afterNewer(parts, user);
  }
  const facts = { user: user.id, provider: account.provider };
  log.info(facts, 'a person is signed out: their provider does not confirm them');
  await announce(`user:${user.id}`);
  return 'refused';
}

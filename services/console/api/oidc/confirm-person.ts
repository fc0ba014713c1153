import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as oidc from 'openid-client';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import {
  checkMs,
  type ExternalAccount,
  type StoredAccount,
  isSameIssuer,
} from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import type { Confirm, Confirmation } from '#shared/accounts/sign-in/confirmation.ts';
import type { SignInProvider, SignInSettings } from '#shared/registry/sign-in.ts';
import { admitAgain, type AdmitParts } from './admit-person.ts';
import { readProviderError, refusesPerson, type ProviderClients } from './provider-clients.ts';
import { announceChange } from '../api-parts.ts';

export interface ConfirmParts extends AdmitParts {
  signIn: () => SignInSettings;
  clients: ProviderClients;
}

/** The last answer of a provider counts for at most this many milliseconds, even if its access token lasts longer. */
const maxGoodMs = 3_600_000;

/** Milliseconds for which a person stays signed in while their provider does not answer, from when the provider's last answer expires. */
const outageMs = 3_600_000;

/**
 * Milliseconds for which storing a refresh token is retried while the account store does not answer, because a replica may have to take
 * over. Together with the time that the provider has to answer, this is less than `checkMs`.
 */
const storeTriesMs = 20_000;

/** Milliseconds between two tries to store a refresh token. */
const storeRetryMs = 1_000;

/** A check that takes this many milliseconds or more is slow. */
const slowCheckMs = 750;

/** Milliseconds between two looks for the result of another node that asks the provider, times a random factor from 1 to 2. */
const pollMs = 100;

/**
 * Returns the time, in ms since 1970, until which an answer of the provider counts. An answer counts as long as its access token lasts, but
 * an hour at most. Without a refresh token the provider cannot be asked again, so the answer counts for `sessionHours`.
 * @param expiresIn seconds for which the access token lasts; undefined: an hour
 * @param sessionHours `session_hours` of the provider in the registry
 */
export function computeGoodUntil(
  refreshToken: string | undefined,
  expiresIn: number | undefined,
  sessionHours: number,
): number {
  if (refreshToken === undefined) return Date.now() + sessionHours * 3_600_000;
  return Date.now() + Math.min(maxGoodMs, (expiresIn ?? maxGoodMs / 1_000) * 1_000);
}

/**
 * Creates the check whether a provider still admits a person. When the provider's last answer is too old, one node at a time asks the
 * provider again. A person whom the provider refuses loses all sign-in sessions, programs and admin tokens. While the provider does not
 * answer, nobody loses anything: the person stays confirmed for an hour, and is then `unknown`.
 */
export function createPersonConfirmer(parts: ConfirmParts): Confirm {
  const { externals } = parts;
  return async (user) => {
    const account = await externals.find(user.id);
    if (!account) return 'refused';
    if (isGood(account)) return 'confirmed';
    const mark = await externals.beginCheck(user.id);
    if (mark === undefined) return isWithinOutage(account) ? 'confirmed' : awaitOtherNode(parts, user);
    const askedAt = performance.now();
    let outcome: Confirmation | undefined;
    try {
      outcome = await askProvider(parts, user);
      return outcome;
    } finally {
      const isSlow = outcome === 'confirmed' && performance.now() - askedAt >= slowCheckMs;
      const slowAccount = isSlow ? await externals.find(user.id) : undefined;
      // The mark makes other requests count the person as confirmed without asking the provider, while the outage time lasts. After a slow
      // check without a new answer the mark stays until it expires, so that nobody waits for the provider meanwhile.
      if (!slowAccount || isGood(slowAccount) || !isWithinOutage(slowAccount, checkMs))
        await externals.endCheck(user.id, mark);
    }
  };
}

/**
 * Creates the check of the person behind an admin token or a key. Tokens and keys last longer than sign-in sessions. Therefore the person
 * also counts as confirmed if no provider can be asked about the person, now or later.
 * @param confirm the check of `createPersonConfirmer`
 */
export function createHolderConfirmer({ externals, signIn }: ConfirmParts, confirm: Confirm): Confirm {
  return async (user) => {
    if (user.passwordHash !== '') return 'confirmed';
    const account = await externals.find(user.id);
    const provider = account && findProvider(signIn(), account);
    const canAsk = provider && account.isOffline && (account.isSealed || account.refreshToken !== undefined);
    return canAsk ? confirm(user) : 'confirmed';
  };
}

/** Returns the provider of an account if the router is still the same client there, and can therefore ask about the person. */
function findProvider({ providers }: SignInSettings, account: ExternalAccount): SignInProvider | undefined {
  return providers.find(
    ({ name, issuer, client_id: id }) =>
      name === account.provider && isSameIssuer(issuer, account.issuer) && (account.clientId ?? id) === id,
  );
}

function isGood({ goodUntil: until }: ExternalAccount): boolean {
  return Date.now() < until;
}

/** Returns whether a person stays confirmed without a new answer of the provider, now or `afterMs` later. */
function isWithinOutage({ goodUntil: until }: ExternalAccount, afterMs = 0): boolean {
  return Date.now() + afterMs < until + outageMs;
}

/** Waits for the result of the node that is asking the provider about a person. */
async function awaitOtherNode(parts: ConfirmParts, user: UserRecord): Promise<Confirmation> {
  const { externals } = parts;
  const deadline = performance.now() + checkMs;
  for (;;) {
    // Random waiting times keep the waiting requests from reading the store at the same moment.
    await sleep(pollMs * (1 + Math.random()));
    const isOver = performance.now() >= deadline || !(await externals.isBeingChecked(user.id));
    const account = await externals.find(user.id);
    if (!account) return 'refused';
    if (isGood(account)) return 'confirmed';
    if (isOver) return (await isSignedOut(parts, user)) ? 'refused' : 'unknown';
  }
}

/**
 * Asks the provider about a person, unless the person was signed out or confirmed meanwhile. Only one node at a time calls this for a
 * person.
 */
async function askProvider(parts: ConfirmParts, user: UserRecord): Promise<Confirmation> {
  const { externals, log } = parts;
  // The account is read again, because another node may have asked the provider since and replaced the refresh token. A used refresh token
  // must not be sent again.
  const account = await externals.find(user.id);
  if (!account || (await isSignedOut(parts, user))) return 'refused';
  if (isGood(account)) return 'confirmed';
  try {
    return await refreshTokens(parts, user, account);
  } catch (error) {
    const answered = readProviderError(error);
    if (refusesPerson(error))
      return signOut(parts, user, account, answered.error === 'access_denied' ? 'denied' : 'ended');
    const facts = { err: error, answered, provider: account.provider, user: user.id };
    log.warn(facts, 'a provider cannot be asked about a person');
    return isWithinOutage(account) ? 'confirmed' : 'unknown';
  }
}

async function refreshTokens(parts: ConfirmParts, user: UserRecord, account: StoredAccount): Promise<Confirmation> {
  const { externals, clients, signIn } = parts;
  const provider = findProvider(signIn(), account);
  if (!provider) return signOut(parts, user, account, 'not asked');
  if (account.isSealed) throw new Error('the refresh token was sealed with a secret that is not known here');
  if (account.refreshToken === undefined) return signOut(parts, user, account, 'not asked');
  const tokens = await oidc.refreshTokenGrant(await clients.of(provider), account.refreshToken);
  const refreshToken = tokens.refresh_token ?? account.refreshToken;
  // The new token is stored at once, because the previous one may be used up. Whether the person may stay is decided below.
  const storedAccount = await storeWithRetries(
    externals,
    user.id,
    { ...account, refreshToken, clientId: provider.client_id },
    account,
  );
  if (!storedAccount) return readNewerState(parts, user);
  const claims = tokens.claims();
  // A provider need not give a new ID token. A new ID token updates groups and address.
  if (claims) {
    const admitted = claims.sub === account.subject && (await admitAgain(parts, provider, claims, user.id));
    if (typeof admitted !== 'object') return signOut(parts, user, storedAccount, 'denied');
  }
  const until = computeGoodUntil(refreshToken, tokens.expires_in, provider.session_hours);
  return (await externals.store(user.id, { ...storedAccount, goodUntil: until }, storedAccount))
    ? 'confirmed'
    : readNewerState(parts, user);
}

/**
 * Stores an account with a refresh token that may be the only valid one, and tries again while the account store does not answer. Returns
 * undefined if the stored account is no longer `replaced`.
 */
async function storeWithRetries(
  externals: ConfirmParts['externals'],
  userId: string,
  account: ExternalAccount,
  replaced: StoredAccount,
): Promise<StoredAccount | undefined> {
  // All tries have the same id, because the store may have kept the token although its reply was lost.
  const storeId = randomUUID();
  const deadline = performance.now() + storeTriesMs;
  for (;;) {
    try {
      return await externals.store(userId, account, replaced, storeId);
    } catch (error) {
      if (performance.now() >= deadline) throw error;
      await sleep(storeRetryMs);
    }
  }
}

/** Returns the state of a person who was deleted, or has signed in, since the provider was asked. */
async function readNewerState({ externals }: ConfirmParts, { id }: UserRecord): Promise<Confirmation> {
  const account = await externals.find(id);
  if (!account) return 'refused';
  return isGood(account) ? 'confirmed' : 'unknown';
}

/** Returns whether the person was blocked, or signed out everywhere, since their record was read. */
async function isSignedOut({ accounts }: ConfirmParts, { id, epoch }: UserRecord): Promise<boolean> {
  const user = await accounts.users.find(id);
  return user?.epoch !== epoch || user.blockedAt !== undefined;
}

/**
 * Signs out a person whom their provider has not confirmed. The provider denies the person (`denied`), no longer accepts the refresh token
 * (`ended`), or cannot be asked about the person (`not asked`). With `not asked`, admin tokens and keys stay valid. With `ended`, keys stay
 * valid if the provider's refresh tokens end with the sessions there. Nothing ends for a person who has signed in at the provider since the
 * provider was asked.
 */
async function signOut(
  parts: ConfirmParts,
  user: UserRecord,
  account: StoredAccount,
  reason: 'denied' | 'ended' | 'not asked',
): Promise<Confirmation> {
  const { log } = parts;
  const { users } = parts.accounts;
  const endOrRefuse = async (): Promise<boolean> => {
    if (reason === 'not asked') {
      await users.endSessions(user.id);
      return true;
    }
    const endsKeys = reason === 'denied' || account.isOffline === true;
    return users.refuse(user.id, { endsKeys, turn: account.turn ?? '' });
  };
  // Nothing is written for a person who was deleted meanwhile.
  if (reason === 'not asked' && !(await users.find(user.id))) return 'refused';
  if (!(await announceChange(parts, `user:${user.id}`, endOrRefuse))) return readNewerState(parts, user);
  const facts = { user: user.id, provider: account.provider };
  log.info(facts, 'a person is signed out: their provider does not confirm them');
  return 'refused';
}

import * as oidc from 'openid-client';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { ExternalAccount } from '#shared/accounts/external-accounts/external-accounts.ts';
import type { SignInSettings } from '#shared/registry/sign-in.ts';
import { admitPerson, type AdmitParts } from './admit-person.ts';
import { isRefusal, type ProviderClients } from './provider-clients.ts';

export interface ConfirmParts extends AdmitParts {
  signIn: () => SignInSettings;
  clients: ProviderClients;
}

/** Milliseconds for which the last answer of a provider counts, unless its access token ends before. */
const longestMs = 3_600_000;

/** Milliseconds for which a person goes on while their provider cannot be reached. */
const outageMs = 3_600_000;

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
 * time. Somebody whom it refuses loses all sessions, programs and admin tokens.
 */
export function personConfirmer(parts: ConfirmParts) {
  const { externals, log } = parts;
  return async (user: UserRecord): Promise<boolean> => {
    const account = await externals.find(user.id);
    if (!account) return false;
    const now = Date.now();
    if (now < account.goodUntil) return true;
    const mayWait = now < account.goodUntil + outageMs;
    if (!(await externals.beginCheck(user.id))) return mayWait;
    try {
      return await ask(parts, user, account);
    } catch (error) {
      if (!isRefusal(error)) {
        log.warn(
          { err: error, provider: account.provider, user: user.id },
          'a provider cannot be asked about a person',
        );
        return mayWait;
      }
      await signOut(parts, user, account, 'refused');
      return false;
    } finally {
      await externals.endCheck(user.id);
    }
  };
}

async function ask(parts: ConfirmParts, user: UserRecord, account: ExternalAccount): Promise<boolean> {
  const { externals, clients, signIn } = parts;
  const provider = signIn().providers.find(({ name }) => name === account.provider);
  if (provider?.issuer !== account.issuer || account.refreshToken === undefined) {
    await signOut(parts, user, account, 'not asked');
    return false;
  }
  const tokens = await oidc.refreshTokenGrant(await clients.of(provider), account.refreshToken);
  const refreshToken = tokens.refresh_token ?? account.refreshToken;
  // At once: the one before may be used up. That the person may stay is only known below.
  await externals.keep(user.id, { ...account, refreshToken });
  const claims = tokens.claims();
  // A provider need not give a new ID token. With one, groups and address count anew.
  if (claims) {
    const admitted = claims.sub === account.subject && (await admitPerson(parts, provider, claims));
    if (typeof admitted !== 'object') {
      await signOut(parts, user, account, 'refused');
      return false;
    }
  }
  const until = goodUntil(refreshToken, tokens.expires_in, provider.session_hours);
  await externals.keep(user.id, { ...account, refreshToken, goodUntil: until });
  return true;
}

/** Ends what somebody has whom their provider has refused. Admin tokens stay of one about whom it could not be asked. */
async function signOut(
  { accounts, announce, log }: ConfirmParts,
  user: UserRecord,
  account: ExternalAccount,
  why: 'refused' | 'not asked',
) {
  log.info(
    { user: user.id, provider: account.provider },
    'a person is signed out: their provider does not confirm them',
  );
  if (why === 'refused') await accounts.users.signOut(user.id);
  else await accounts.users.endSessions(user.id);
  await announce(`user:${user.id}`);
}

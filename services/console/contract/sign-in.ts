import type { TeamRole, UserRole } from './people.ts';

/*
 * The contract between the console's pages and its API: signing in. All paths are below `/console/api`.
 */

/**
 * `GET /session`: the signed-in person (401 if nobody is signed in). `POST /session` `{ email, password }` signs in and answers a
 * SignInSession; `DELETE /session` signs out, `DELETE /sessions` signs out everywhere. `POST /password` `{ current, next }` changes the
 * password, signs out everywhere else, and answers a SignInSession with a new token. Too many tries: 429 with `retry-after`.
 */
export interface SignInSession {
  user: {
    id: string;
    name: string;
    email: string;
    role: UserRole;
    teams: { id: string; name: string; role: TeamRole }[];
    /** Absent if the person signs in only at a provider. */
    hasPassword?: true;
    makesPersonalKeys: boolean;
    alertEmails: boolean;
  };
  csrfToken: string;
}

/**
 * `GET /links/<token>`: the purpose of a one-time link (404: unknown, used or expired). `POST /links/<token>` `{ name, email, password }`
 * creates the account, uses up the link, signs in, and answers a SignInSession. An invitation contains the address, so that `email` is
 * ignored. A link of the kind `password` sets a new password of an existing account, so that `name` and `email` are ignored.
 */
export interface Link {
  kind: 'first-admin' | 'invitation' | 'password';
  email?: string;
}

/**
 * `GET /sign-in`: the ways to sign in. `GET /oidc/<name>/start?to=<path>` redirects the browser to a provider, and from there back to the
 * path, or to `/?sign-in=<reason>`.
 */
export interface SignInWays {
  providers: { name: string; label: string }[];
  localAccounts: boolean;
}

/**
 * The code of the 503 for a request of a person after the person's provider has not answered for too long. The session continues once the
 * provider answers or the person signs in again.
 */
export const providerAway = 'provider_away';

/** The code of the 401 for a session that a password has opened, while people may sign in only at providers. */
export const localAccountsOff = 'local_accounts_off';

/** The reasons why a sign-in at a provider failed or a session has ended, with the sentence for each. */
export const signInFailures = {
  expired: 'The sign-in took too long, was begun in another browser, or has ended already. Try again.',
  denied: 'Your provider did not sign you in.',
  away: 'Your provider cannot be reached now. Try again soon.',
  unavailable: 'The router cannot sign you in now. Try again soon.',
  no_provider: 'There is no such way in any more. Choose another one.',
  signed_out: 'You were signed out meanwhile. Sign in again.',
  [localAccountsOff]: 'People now sign in here with their company account only. Sign in with yours.',
  failed: 'The router failed. Its log says why.',
  no_address: 'Your provider did not say which e-mail address you have.',
  not_verified: 'Your provider has not verified your e-mail address.',
  not_admitted: 'Your account may not come in here. Ask an administrator to admit your group or your domain.',
  other_account:
    'The account here with your e-mail address is linked to another account at a provider. If it is yours, ask an administrator to unlink it, and sign in again.',
  unconfirmed_address:
    'An account here has your e-mail address, and nobody has confirmed that it is yours. If it is, sign in with its password once, and have an administrator confirm the address; otherwise ask one to take the address from it.',
  blocked: 'You are blocked here. Ask an administrator.',
} as const;

export type SignInFailure = keyof typeof signInFailures;

/** The answer (200) of `DELETE /session` if the provider has a page for signing out. Otherwise the answer is 204 without a body. */
export interface SignOutAnswer {
  url: string;
}

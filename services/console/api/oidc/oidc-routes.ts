import * as oidc from 'openid-client';
import { Router, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import type { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { UnconfirmedError } from '#shared/accounts/sign-in/confirmation.ts';
import type { SignInProvider, SignInSettings } from '#shared/registry/sign-in.ts';
import { resolveRouterAddress } from '#shared/core/router-address.ts';
import { isSameOrigin } from '#shared/core/same-origin.ts';
import type { SignInWays } from '../../contract/sign-in.ts';
import { ApiFailure } from '../api-failure.ts';
import { announceChange, type ApiParts } from '../api-parts.ts';
import { startSession } from '../session/start-session.ts';
import { readSessionId } from '../session/cookies.ts';
import { admitPerson } from './admit-person.ts';
import { redirectOnError, redirectToSignIn } from './redirect-to-sign-in.ts';
import { computeGoodUntil } from './confirm-person.ts';
import { readProviderError, type ProviderClients } from './provider-clients.ts';
import type { SignInState, SignInStates } from './sign-in-state.ts';

export interface OidcParts {
  settings: () => SignInSettings;
  clients: ProviderClients;
  states: SignInStates;
  externals: ExternalAccounts;
}

/**
 * A path of the console. Refuses `//host` and `/\host`, which browsers read as the URL of another host. A link on any site can name a path,
 * and the path is kept in a cookie. Therefore the path has at most 300 characters, all of which URLs allow and JSON writes without an
 * escape.
 */
const consolePath = z
  .string()
  .max(300)
  .regex(/^\/(?![/\\])[!#-[\]-~]*$/);

/** Creates the routes for signing in at a provider: OpenID Connect, authorization code with PKCE, state and nonce. */
export function oidcRoutes(parts: ApiParts & { oidc: OidcParts }): Router {
  const { accounts, announce, log } = parts;
  const { settings, clients, states, externals } = parts.oidc;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/sign-in', (request, response) => {
    states.clearOldest(request, response);
    const { providers, local_accounts: localAccounts } = settings();
    const answer: SignInWays = {
      providers: providers.map(({ name, label = name }) => ({ name, label })),
      localAccounts,
    };
    response.json(answer);
  });
  routes.all('/oidc/:name/start', requireGet);
  routes.all('/oidc/:name/callback', requireGet);
  const start = async (request: Request, response: Response): Promise<void> => {
    const provider = findProvider(request);
    if (!provider) return redirectToSignIn(response, 'no_provider');
    const callback = computeCallbackUrl(request, provider);
    const to = consolePath.safeParse(request.query['to']).data ?? '/';
    // A link on another site must not sign in a person again, possibly as somebody else.
    if (!isSameOrigin(request) && (await isSignedIn(request))) return response.redirect(302, to);
    const client = await clients.of(provider).catch((error: unknown) => {
      log.warn({ err: error, provider: provider.name }, 'a provider cannot be reached');
      return undefined;
    });
    if (!client) return redirectToSignIn(response, 'away');
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    if (!states.begin(request, response, { provider: provider.name, state, nonce, verifier, to })) {
      return redirectToSignIn(response, 'unavailable');
    }
    const url = oidc.buildAuthorizationUrl(client, {
      redirect_uri: callback,
      scope: provider.scopes.join(' '),
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    response.redirect(302, url.href);
  };
  const finish = async (request: Request, response: Response): Promise<void> => {
    const provider = findProvider(request);
    if (!provider) return redirectToSignIn(response, 'no_provider');
    const answer = new URL(computeCallbackUrl(request, provider));
    answer.search = new URL(request.originalUrl, answer).search;
    const state = await states.take(request, response, provider.name);
    if (!state) return redirectToSignIn(response, 'expired');
    const tokens = await exchangeCode(provider, answer, state);
    if (typeof tokens === 'string') return redirectToSignIn(response, tokens);
    const claims = tokens.claims();
    if (!claims || !isValidSubject(claims.sub)) {
      log.warn({ provider: provider.name }, 'a provider sent no ID token with a valid subject');
      return redirectToSignIn(response, 'denied');
    }
    const user = await admitPerson({ accounts, externals, announce, log }, provider, claims);
    if (typeof user === 'string') {
      log.info({ provider: provider.name, reason: user }, 'somebody from a provider was not admitted');
      return redirectToSignIn(response, user);
    }
    const account = {
      provider: provider.name,
      issuer: provider.issuer,
      subject: claims.sub,
      goodUntil: computeGoodUntil(tokens.refresh_token, tokens.expires_in, provider.session_hours),
      refreshToken: tokens.refresh_token,
      clientId: provider.client_id,
      isOffline: hasOfflineTokens(provider),
    };
    const storeAccount = () => externals.store(user.id, account);
    // The keys of a person who was refused work again from now on.
    await (user.refusedAt === undefined ? storeAccount() : announceChange(parts, `user:${user.id}`, storeAccount));
    await startSession(parts, request, response, user, { provider: provider.name });
    response.redirect(302, state.to);
  };
  routes.get('/oidc/:name/start', redirectOnError(log, start));
  routes.get('/oidc/:name/callback', redirectOnError(log, finish));
  return routes;

  function findProvider(request: Request): SignInProvider | undefined {
    return settings().providers.find(({ name }) => name === request.params['name']);
  }

  async function isSignedIn(request: Request): Promise<boolean> {
    const sessionId = readSessionId(request);
    if (sessionId === undefined) return false;
    try {
      return (await accounts.sessions.find(sessionId)) !== undefined;
    } catch (error) {
      // A person about whom the provider could not be asked must be able to sign in again.
      if (error instanceof UnconfirmedError) return false;
      throw error;
    }
  }

  async function exchangeCode(provider: SignInProvider, answer: URL, { state, nonce, verifier }: SignInState) {
    try {
      return await oidc.authorizationCodeGrant(await clients.of(provider), answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
    } catch (error) {
      const facts = { err: error, provider: provider.name, answered: readProviderError(error) };
      log.warn(facts, 'a sign-in at a provider failed');
      return isOutage(error) ? 'away' : 'denied';
    }
  }

  function computeCallbackUrl(request: Request, { name }: SignInProvider): string {
    return new URL(`/console/api/oidc/${name}/callback`, resolveRouterAddress(request, parts.publicUrl)).href;
  }
}

/**
 * Returns whether the refresh tokens of a provider outlast the sessions that people have there (OpenID Connect Core 1.0, section 11). If
 * so, the end of a refresh token ends the person's access. Other providers end refresh tokens together with the session there, for example
 * in the evening.
 */
function hasOfflineTokens({ scopes }: SignInProvider): boolean {
  return scopes.includes('offline_access');
}

/** Returns whether a subject has 1 to 255 characters (OpenID Connect Core 1.0, section 2). */
function isValidSubject(sub: string): boolean {
  return sub.length > 0 && sub.length <= 255;
}

/** Refuses every method but GET. Express runs GET handlers for HEAD too, and these handlers begin or end a sign-in. */
function requireGet({ method }: Request, response: Response, next: NextFunction): void {
  if (method === 'GET') return next();
  response.set('allow', 'GET');
  throw new ApiFailure(405, 'method_not_allowed', `${method} is not allowed here.`);
}

/** Returns whether the provider did not answer, answered with something outside the protocol, or answered with a temporary error. */
function isOutage(error: unknown): boolean {
  const { status } = readProviderError(error);
  // A successful status means that the provider sent something outside the protocol, such as a maintenance page.
  if (status !== undefined) return status < 400 || status >= 500 || status === 429;
  if (!(error instanceof Error)) return false;
  return (
    error.name === 'TypeError' || error.name === 'TimeoutError' || (error.cause !== undefined && isOutage(error.cause))
  );
}

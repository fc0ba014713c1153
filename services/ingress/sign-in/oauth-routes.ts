import { Router, urlencoded, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import { deviceLifeMs, devicePollMs } from '#shared/accounts/sign-in/programs/device-codes.ts';
import type { Programs, TokenOutcome } from '#shared/accounts/sign-in/programs/programs.ts';
import { displayNameSchema } from '#shared/accounts/people/user.ts';
import { resolveRouterAddress } from '#shared/core/router-address.ts';
import { isSameOrigin } from '#shared/core/same-origin.ts';
import type { IngressContext } from '../context.ts';
import { endSlowBody } from '../http/end-slow-body.ts';
import { createMetadataHandler, deviceGrant, metadataPath } from './authorization-server-metadata.ts';
import { answerOAuthError, OAuthError } from './oauth-error.ts';

/** Largest form in bytes. A refresh token has about 80. */
const maxFormBytes = 16 * 1024;

export const devicePage = '/device';

/** What the endpoints do with the sign-ins of programs. */
export interface OAuthPrograms {
  programs: Pick<Programs, 'claim' | 'refresh' | 'signOut' | 'readProgramId'> & {
    devices: Pick<Programs['devices'], 'begin'>;
  };
  /** Announces to every ingress that the program of `program:<id>` is signed out. Never throws. */
  announce: (changedId: string) => Promise<void>;
  /** Records that the refresh token of a program was used twice, and that the program was therefore signed out. */
  noteReplay: (program: { programId: string; userId: string }) => Promise<void>;
}

const formValue = z.string().max(4_096).optional();
const formSchema = z.object({
  grant_type: formValue,
  client_id: formValue,
  device_code: formValue,
  refresh_token: formValue,
  token: formValue,
  surface: formValue,
});

/**
 * Creates the endpoints at which programs sign in for a person: discovery (RFC 8414), device authorization and tokens (RFC 8628, RFC 6749),
 * and revocation (RFC 7009). The endpoints read no cookie. A page of another origin cannot send them a form or read their answers.
 * @param base base path of the endpoints; `''` for the root
 */
export function createOAuthRoutes(
  base: string,
  { apis, config, serving: { store }, arrivingBodies, log }: IngressContext,
  { programs, announce, noteReplay }: OAuthPrograms,
): Router {
  const { PUBLIC_URL: publicUrl } = config;
  const routes = Router({ caseSensitive: true });
  routes.get(metadataPath, createMetadataHandler(base, apis, publicUrl));

  const endpoints = Router({ caseSensitive: true });
  endpoints.use((_, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    store.assertIntact();
    next();
  });
  endpoints.all(['/device_authorization', '/token', '/revoke'], requirePost, refuseOtherOrigins);
  endpoints.use(endSlowBody(config.BODY_TIMEOUT_MS), arrivingBodies.createHandler(maxFormBytes));
  endpoints.use(urlencoded({ extended: false, limit: maxFormBytes, inflate: false }));
  endpoints.post('/device_authorization', async (request, response) => {
    const fields = readForm(request);
    const page = `${resolveRouterAddress(request, publicUrl)}${devicePage}`;
    const start = await programs.devices.begin({
      client: findClientName(fields, request),
      address: request.ip ?? '',
      clientId: fields.client_id,
    });
    response.json({
      device_code: start.deviceCode,
      user_code: start.userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?code=${start.userCode}`,
      expires_in: deviceLifeMs / 1_000,
      interval: devicePollMs / 1_000,
    });
  });
  endpoints.post('/token', async (request, response) => {
    const outcome = await issueTokens(readForm(request));
    if (outcome.state === 'replayed') await noteReplay(outcome);
    if (outcome.state !== 'issued') throw toOAuthError(outcome.state);
    const { accessToken, expiresIn, refreshToken, email } = outcome.tokens;
    response.json({
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: expiresIn,
      refresh_token: refreshToken,
      // Claude Code shows the address to the person for confirmation, so that nobody is signed in to another person's account unnoticed.
      email,
    });
  });
  endpoints.post('/revoke', async (request, response) => {
    const { token } = readForm(request);
    if (token === undefined) throw new OAuthError('invalid_request', '`token` is missing.');
    const programId = await programs.readProgramId(token);
    if (programId !== undefined) {
      try {
        const signedOut = await programs.signOut(token);
        if (signedOut?.isReplayed) await noteReplay(signedOut);
      } finally {
        // Also if the store did not answer, because it may have signed the program out, or do so later.
        await announce(`program:${programId}`);
      }
    }
    // An unknown token gets the same answer (RFC 7009, section 2.2).
    response.status(200).end();
  });
  endpoints.use(answerOAuthError(log));
  routes.use('/oauth', endpoints);
  return routes;

  function issueTokens({
    grant_type,
    client_id,
    device_code,
    refresh_token,
  }: z.infer<typeof formSchema>): Promise<TokenOutcome> {
    switch (grant_type) {
      case deviceGrant:
        if (device_code === undefined) throw new OAuthError('invalid_request', '`device_code` is missing.');
        return programs.claim(device_code, client_id, announce);
      case 'refresh_token':
        if (refresh_token === undefined) throw new OAuthError('invalid_request', '`refresh_token` is missing.');
        return programs.refresh(refresh_token, announce);
      case undefined:
        throw new OAuthError('invalid_request', '`grant_type` is missing.');
      default:
        throw new OAuthError('unsupported_grant_type', 'Programs sign in with a device code or a refresh token.');
    }
  }
}

function requirePost({ method }: Request, response: Response, next: NextFunction): void {
  if (method === 'POST') return next();
  response.set('allow', 'POST');
  throw new OAuthError('invalid_request', 'Send a POST request with a form.', { status: 405 });
}

/**
 * Refuses requests from pages of other origins, because a page could use up the number of pending sign-ins per network address.
 * Programs do not send the headers that browsers add to requests of pages.
 */
function refuseOtherOrigins(request: Request, _: Response, next: NextFunction): void {
  // Browsers send this value for requests that come from the person, for example through the address bar, and not from a page.
  const isFromPerson = request.get('sec-fetch-site') === 'none';
  if (isFromPerson || isSameOrigin(request)) return next();
  throw new OAuthError('invalid_request', 'Pages of other origins may not do this.', { status: 403 });
}

/**
 * Returns the fields of a form. An empty body has no fields.
 * @throws OAuthError for a field that is repeated or too long, and for a body that is not a form
 */
function readForm(request: Request): z.infer<typeof formSchema> {
  if (!isForm(request) && !isEmpty(request)) {
    throw new OAuthError('invalid_request', 'The body is not a form: send application/x-www-form-urlencoded.');
  }
  const { data } = formSchema.safeParse(request.body ?? {});
  if (!data) throw new OAuthError('invalid_request', 'A field of the form is too long, or comes more than once.');
  return data;
}

function isForm(request: Request): boolean {
  return request.is('urlencoded') === 'urlencoded';
}

/** Returns whether a request has no body. `isForm` is false for an empty body, even if the request declares the type of a form. */
function isEmpty(request: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  return encoding === undefined && Number(length) === 0;
}

function toOAuthError(state: Exclude<TokenOutcome['state'], 'issued'>): OAuthError {
  switch (state) {
    case 'pending':
      return new OAuthError('authorization_pending', 'The sign-in waits for a person to approve it.');
    case 'slow down':
      return new OAuthError('slow_down', 'Wait for five seconds more between two requests.');
    case 'denied':
      return new OAuthError('access_denied', 'The sign-in was denied.');
    case 'expired':
      return new OAuthError('expired_token', 'The code is unknown, already used or expired. Sign in again.');
    case 'unknown':
    case 'ended':
    case 'replayed':
      // Claude Code asks the person to sign in again only on this status.
      return new OAuthError('invalid_grant', 'The program is signed out. Sign in again.', { status: 401 });
  }
}

/** Names of programs that send no name, by the field `surface` of their form (Claude Code 2.1.330). */
const surfaces: Readonly<Record<string, string>> = { claude_code: 'Claude Code' };

/** Returns the program's name for the approval page. The name is not proof of identity. */
function findClientName({ client_id: clientId, surface = '' }: z.infer<typeof formSchema>, request: Request): string {
  const [product = ''] = (request.get('user-agent') ?? '').split(/[\s/]/);
  const named = [clientId, surfaces[surface], product].map((name) => displayNameSchema.safeParse(name).data);
  return named.find((name) => name !== undefined) ?? 'a program without a name';
}

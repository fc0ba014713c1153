import { resolveRouterAddress } from '#shared/core/router-address.ts';
import type { RequestHandler, Response } from 'express';
import { readIssuer } from '#shared/accounts/keys/verify-credential.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { ApiDesktop, ModelCard } from '#shared/formats/client-api.ts';
import type { IngressContext } from '../context.ts';
import { readBearerToken } from '../http/require-key.ts';

/**
 * Creates the handler that sends a desktop program its whole configuration. The program authenticates with the token of a person. Mount the
 * handler after `requireKey`, which verifies the token.
 * @param prefixes path prefixes of the API, which are not part of its base URL
 */
export function answerDesktopConfiguration(
  desktopApi: Pick<ApiDesktop, 'configuration'>,
  listCards: (response: Response) => readonly ModelCard[],
  prefixes: readonly string[],
  { config, serving: { registry } }: Pick<IngressContext, 'config' | 'serving'>,
): RequestHandler {
  return (request, response) => {
    const token = readBearerToken(request.get('authorization'));
    const issuerOfToken = token === undefined ? undefined : readIssuer(token);
    const accepted = registry.current().token_issuers.find(({ issuer }) => issuer === issuerOfToken);
    if (!accepted?.desktop) {
      const message =
        'There is a configuration only for people whose token comes from an issuer with `claude_desktop`.';
      throw new RouterError('permission_denied', message);
    }
    const prefix = prefixes.find((each) => each !== '' && request.baseUrl.endsWith(each)) ?? '';
    const base = request.baseUrl.slice(0, request.baseUrl.length - prefix.length);
    const { issuer, desktop } = accepted;
    const facts = { baseUrl: `${resolveRouterAddress(request, config.PUBLIC_URL)}${base}`, issuer, desktop };
    response.set('cache-control', 'private, no-store').json(desktopApi.configuration(listCards(response), facts));
  };
}

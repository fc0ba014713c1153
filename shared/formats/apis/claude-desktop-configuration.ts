import { generatesAnswers, type DesktopFacts, type ModelCard } from '../client-api.ts';

/**
 * Returns the configuration that Claude Desktop reads from its `bootstrapUrl` for a person, under the names of its managed settings. Claude
 * Desktop treats an omitted setting as unset, so the answer repeats the sign-in settings.
 */
export function createDesktopConfiguration(cards: readonly ModelCard[], facts: DesktopFacts): object {
  const { baseUrl, issuer, desktop } = facts;
  const { client_id: clientId, scopes, redirect_port: redirectPort, bearer_token_type: bearerTokenType } = desktop;
  return {
    ...desktop.settings,
    inferenceProvider: 'gateway',
    inferenceGatewayBaseUrl: baseUrl,
    inferenceCredentialKind: 'interactive',
    inferenceGatewayOidc: JSON.stringify({ issuer, clientId, scopes, redirectPort, bearerTokenType }),
    inferenceModels: cards.filter(generatesAnswers).map(({ id }) => id),
  };
}

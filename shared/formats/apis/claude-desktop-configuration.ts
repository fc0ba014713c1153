import { generates, type DesktopFacts, type ModelCard } from '../client-api.ts';

/**
 * The configuration that Claude Desktop gets for a person at its `bootstrapUrl`, under the names of its managed settings. What is left
 * out counts as unset there, so that how people sign in stands in it again.
 */
export function claudeDesktopConfiguration(cards: readonly ModelCard[], facts: DesktopFacts): object {
  const { baseUrl, issuer, desktop } = facts;
  const { client_id: clientId, scopes, redirect_port: redirectPort, bearer_token_type: bearerTokenType } = desktop;
  return {
    ...desktop.settings,
    inferenceProvider: 'gateway',
    inferenceGatewayBaseUrl: baseUrl,
    inferenceCredentialKind: 'interactive',
    inferenceGatewayOidc: JSON.stringify({ issuer, clientId, scopes, redirectPort, bearerTokenType }),
    inferenceModels: cards.filter(generates).map(({ id }) => id),
  };
}

import { generatesAnswers, type DesktopFacts, type ModelCard } from '../client-api.ts';

/**
 * Returns the configuration for a person. Claude Desktop reads it from its `bootstrapUrl`. The fields have the names of Claude Desktop's
 * managed settings. An omitted setting counts as unset, so the configuration repeats the sign-in settings.
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

import { generatesAnswers, type ClientApi, type DesktopFacts, type ModelCard } from '../client-api.ts';
import { anthropicBatches } from '../batches/anthropic-batches.ts';
import { toDiscoveredModels, requestsModelList, resolveAlias } from './discovered-models.ts';
import { createClaudeCodeSettings } from './claude-code-settings.ts';
import { toMessagesModel, createModelPage } from './anthropic-models.ts';

export const anthropicApi: ClientApi = {
  segment: 'anthropic',
  prefixes: ['/v1', ''],
  keyHeader: 'x-api-key',
  // Claude Code checks the server with a HEAD request to this path, without a key. Express answers HEAD with the GET route.
  greetings: { '/api/hello': { message: 'hello' } },
  listModels: (cards, query, headers) => {
    const generating = cards.filter(generatesAnswers);
    return createModelPage(requestsModelList(headers) ? toDiscoveredModels(generating) : generating, query);
  },
  nameBehind: resolveAlias,
  showModel: toMessagesModel,
  programs: {
    settingsPath: '/managed/settings',
    settings: createClaudeCodeSettings,
    telemetryPaths: ['/metrics', '/logs', '/traces'],
  },
  desktop: { path: '/bootstrap', configuration: createDesktopConfiguration },
  batches: anthropicBatches,
};

/**
 * Returns the configuration for a person. Claude Desktop reads it from its `bootstrapUrl`. The fields have the names of Claude Desktop's
 * managed settings. An omitted setting counts as unset, so the configuration repeats the sign-in settings.
 */
function createDesktopConfiguration(cards: readonly ModelCard[], facts: DesktopFacts): object {
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

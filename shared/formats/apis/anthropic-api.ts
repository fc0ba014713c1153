import { generatesAnswers, type ClientApi } from '../client-api.ts';
import { anthropicBatches } from '../batches/anthropic-batches.ts';
import { toDiscoveredModels, requestsModelList, resolveAlias } from './discovered-models.ts';
import { createDesktopConfiguration } from './claude-desktop-configuration.ts';
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

import { generatesAnswers, type ClientApi } from '../client-api.ts';
import { anthropicBatches } from '../batches/anthropic-batches.ts';
import { discoveredModels, requestsModelList, resolveAlias } from './discovered-models.ts';
import { claudeDesktopConfiguration } from './claude-desktop-configuration.ts';
import { claudeCodeSettings } from './claude-code-settings.ts';
import { messagesModel, messagesModelPage } from './anthropic-models.ts';

export const anthropicApi: ClientApi = {
  segment: 'anthropic',
  segmentSetting: 'MESSAGES_FAMILY',
  prefixes: ['/v1', ''],
  keyHeader: 'x-api-key',
  // Claude Code checks the server with a HEAD request to this path, without a key. Express answers HEAD with the GET route.
  greetings: { '/api/hello': { message: 'hello' } },
  listModels: (cards, query, headers) => {
    const generating = cards.filter(generatesAnswers);
    return messagesModelPage(requestsModelList(headers) ? discoveredModels(generating) : generating, query);
  },
  nameBehind: resolveAlias,
  showModel: messagesModel,
  programs: {
    settingsPath: '/managed/settings',
    settings: claudeCodeSettings,
    telemetryPaths: ['/metrics', '/logs', '/traces'],
  },
  desktop: { path: '/bootstrap', configuration: claudeDesktopConfiguration },
  batches: anthropicBatches,
};

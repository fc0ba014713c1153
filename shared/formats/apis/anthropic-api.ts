import type { ClientApi } from '../client-api.ts';
import { messagesModel, messagesModelPage } from './anthropic-models.ts';

/** What Anthropic's SDKs and Claude Code reach with one base URL. */
export const anthropicApi: ClientApi = {
  segment: 'anthropic',
  segmentSetting: 'MESSAGES_FAMILY',
  prefixes: ['/v1'],
  keyHeader: 'x-api-key',
  // Claude Code sends HEAD here, without a key, to learn whether the server is up. Express answers HEAD by the GET route.
  greetings: { '/api/hello': { message: 'hello' } },
  listModels: messagesModelPage,
  showModel: messagesModel,
};

import type { JsonObject } from '#shared/core/json.ts';
import { buildChatRequest } from './build-chat-request.ts';
import { buildMessagesRequest } from './build-messages-request.ts';
import type { Settings, Turn } from './conversation.ts';

/** The conversation as a request of the chosen format. */
export function buildRequest(turns: readonly Turn[], settings: Settings): JsonObject {
  return settings.format === 'chat' ? buildChatRequest(turns, settings) : buildMessagesRequest(turns, settings);
}

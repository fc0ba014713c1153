import type { JsonObject } from '#shared/core/json.ts';
import { buildChatRequest } from '../../formats/chat.ts';
import { buildMessagesRequest } from '../../formats/messages.ts';
import type { Settings, Turn } from '../../formats/conversation.ts';

/** The conversation as a request of the chosen format. */
export function buildRequest(turns: readonly Turn[], settings: Settings): JsonObject {
  return settings.format === 'chat' ? buildChatRequest(turns, settings) : buildMessagesRequest(turns, settings);
}

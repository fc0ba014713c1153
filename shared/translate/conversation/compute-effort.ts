import type { JsonObject } from '#shared/core/json.ts';
import { readChatThinking } from '../vocabulary/thinking.ts';

/** Returns the thinking effort that a command-line agent gets for a chat request; undefined if the request has no thinking settings. */
export function computeEffort(request: JsonObject): string | undefined {
  const thinking = readChatThinking(request);
  return thinking?.thinking.type === 'disabled' ? 'none' : (thinking?.effort ?? (thinking && 'high'));
}

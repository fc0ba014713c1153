import type { JsonObject } from '#shared/core/json.ts';
import { thinkingForChat } from '../vocabulary/thinking.ts';

/** Returns the thinking effort that a chat request asks of a command-line agent; undefined if it asks for none. */
export function computeEffort(request: JsonObject): string | undefined {
  const thinking = thinkingForChat(request);
  return thinking?.thinking.type === 'disabled' ? 'none' : (thinking?.effort ?? (thinking && 'high'));
}

import type { JsonObject } from '#shared/core/json.ts';
import { thinkingForChat } from '../vocabulary/thinking.ts';

/** Returns the thinking effort that a chat request asks of a command-line agent; undefined if it asks for none. */
export function computeEffort(request: JsonObject): string | undefined {
  const asked = thinkingForChat(request);
  return asked?.thinking.type === 'disabled' ? 'none' : (asked?.effort ?? (asked && 'high'));
}

import type { JsonObject } from '#shared/core/json.ts';
import { thinkingForChat } from '../vocabulary/thinking.ts';

/** The effort of thinking that a chat request asks a command-line agent for; undefined if it asks for none. */
export function effortOf(request: JsonObject): string | undefined {
  const asked = thinkingForChat(request);
  return asked?.thinking.type === 'disabled' ? 'none' : (asked?.effort ?? (asked && 'high'));
}

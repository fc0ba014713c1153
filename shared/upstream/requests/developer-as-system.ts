import type { JsonObject } from '#shared/core/json.ts';

/** Local models' chat templates know the role `system`; most of them refuse `developer` or leave the text out. */
export function developerAsSystem(message: JsonObject): JsonObject {
  return message.role === 'developer' ? { ...message, role: 'system' } : message;
}

import { isJsonObject } from '#shared/core/json.ts';

/**
 * Whether a message has one of the common shapes that `schema.ts` accepts. A long conversation has hundreds of such messages. The schema
 * takes several times as long to check a message. See docs/decisions/0022-lists-passed-unread.md.
 */
export function isPlainMessage(message: unknown): boolean {
  if (!isJsonObject(message)) return false;
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  switch (role) {
    case 'system':
    case 'developer':
    case 'user':
      return isPlainContent(content);
    case 'assistant':
      return isAbsent(content) || isPlainContent(content)
        ? isAbsent(calls) || (Array.isArray(calls) && calls.every(isPlainCall))
        : false;
    case 'tool':
      return typeof id === 'string' && isPlainContent(content);
    default:
      return false;
  }
}

/** Whether a tool has the common shape that `schema.ts` accepts. */
export function isPlainTool(tool: unknown): boolean {
  if (!isJsonObject(tool) || tool['type'] !== 'function' || !isJsonObject(tool['function'])) return false;
  const { name, description, parameters, strict } = tool['function'];
  return (
    isNonEmptyString(name) &&
    (isAbsent(description) || typeof description === 'string') &&
    (isAbsent(parameters) || isJsonObject(parameters)) &&
    (isAbsent(strict) || typeof strict === 'boolean')
  );
}

function isPlainContent(content: unknown): boolean {
  return typeof content === 'string' || (Array.isArray(content) && content.every(isPlainPart));
}

function isPlainPart(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  const { type, text, image_url: image } = part;
  if (type === 'text') return typeof text === 'string';
  return type === 'image_url' && isJsonObject(image) && typeof image['url'] === 'string';
}

function isPlainCall(call: unknown): boolean {
  if (!isJsonObject(call) || call['type'] !== 'function' || !isNonEmptyString(call['id'])) return false;
  const { function: definition } = call;
  return (
    isJsonObject(definition) && isNonEmptyString(definition['name']) && typeof definition['arguments'] === 'string'
  );
}

function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/**
 * For providers whose only format is JSON without a schema: the schema that a request asks for is told in a system message
 * at its end, and the format becomes `json_object`.
 */
export function schemaInWords(request: JsonObject): JsonObject {
  const { response_format: format, messages } = request;
  if (!isJsonObject(format) || format.type !== 'json_schema' || !Array.isArray(messages)) return request;
  const schema = isJsonObject(format.json_schema) ? format.json_schema.schema : undefined;
  const content = `Answer with one JSON object that this JSON Schema describes:\n${JSON.stringify(schema ?? { type: 'object' })}`;
  return { ...request, response_format: { type: 'json_object' }, messages: [...messages, { role: 'system', content }] };
}

import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import type { Registry } from '#shared/registry/registry.ts';

/** Usual names of the input field for the query or the URL. The clearest name comes first. */
const usualFields = {
  web_search: ['query', 'q', 'search_query', 'searchQuery', 'search', 'keywords', 'objective', 'question', 'text'],
  web_fetch: ['url', 'uri', 'link', 'address', 'urls'],
};

/** Returns the query of a search, or the URL of a fetch; '' if the model wrote none. */
export function readQuery({ hosted, input }: Pick<HostedCall, 'hosted' | 'input'>): string {
  const value = input[hosted.kind === 'web_search' ? 'query' : 'url'];
  return typeof value === 'string' ? value : '';
}

/**
 * Builds the input of the served tool for a call of a hosted tool. The input consists of the call's query or URL, the fields that the
 * registry adds, and all fields of the request's hosted tool that are in the input's schema. These fields keep the names of the format.
 */
export function buildHostedInput(call: HostedCall, settings: Registry['hosted_tools']): JsonObject {
  const { hosted, servedTool, input } = call;
  if (hosted.kind === 'mcp') return input;
  const query = readQuery(call);
  const { field, input: fixedInput = {} } = settings[hosted.kind] ?? {};
  const schema = servedTool.inputSchema;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const name = field ?? chooseField(properties, schema['required'], usualFields[hosted.kind]);
  const takesList = isJsonObject(properties[name]) && properties[name]['type'] === 'array';
  return { ...pickAllowedFields(hosted.hints ?? {}, properties), ...fixedInput, [name]: takesList ? [query] : query };
}

/** Chooses the first field with a usual name. Without such a field, chooses the single required field, otherwise the most usual name. */
function chooseField(properties: JsonObject, required: Json | undefined, usualNames: readonly string[]): string {
  const usualName = usualNames.find((name) => properties[name] !== undefined);
  const [firstRequired, ...others] = Array.isArray(required) ? required : [];
  return (
    usualName ?? (typeof firstRequired === 'string' && others.length === 0 ? firstRequired : (usualNames[0] ?? ''))
  );
}

/** Keeps the fields that are in the schema and have allowed values, because a refused value would fail the call. */
function pickAllowedFields(fields: JsonObject, properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => Object.hasOwn(properties, name) && allowsValue(properties[name], value),
    ),
  );
}

function allowsValue(schema: Json | undefined, value: Json | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  const { type, enum: values, anyOf: variants } = schema;
  if (Array.isArray(variants)) return variants.some((variant) => allowsValue(variant, value));
  if (Array.isArray(values)) return values.some((each) => each === value);
  const actual = Array.isArray(value) ? 'array' : typeof value;
  return type === undefined || type === actual || (Array.isArray(type) && type.includes(actual));
}

import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import type { Registry } from '#shared/registry/registry.ts';

/** Usual names of the field for the query or the URL in a tool's input, the clearest first. */
const usualFields = {
  web_search: ['query', 'q', 'search_query', 'searchQuery', 'search', 'keywords', 'objective', 'question', 'text'],
  web_fetch: ['url', 'uri', 'link', 'address', 'urls'],
};

/** Returns the query of a search or the URL of a fetch; '' if the model gave none. */
export function readQuery({ hosted, input }: Pick<HostedCall, 'hosted' | 'input'>): string {
  const value = input[hosted.kind === 'web_search' ? 'query' : 'url'];
  return typeof value === 'string' ? value : '';
}

/**
 * Builds the input of the tool behind a hosted tool. It consists of the call's query or URL, the input that the registry adds, and those
 * fields of the request's hosted tool that the input's schema has. The fields keep the names of the format.
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

/** Chooses the first field with a usual name; otherwise the only required field; otherwise the most usual name. */
function chooseField(properties: JsonObject, required: Json | undefined, usualNames: readonly string[]): string {
  const usualName = usualNames.find((name) => properties[name] !== undefined);
  const [only, ...others] = Array.isArray(required) ? required : [];
  return usualName ?? (typeof only === 'string' && others.length === 0 ? only : (usualNames[0] ?? ''));
}

/** Keeps the fields that the schema has and whose values it allows, because a refused value would fail the call. */
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

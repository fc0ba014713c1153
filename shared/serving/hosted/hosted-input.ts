import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import type { Registry } from '#shared/registry/registry.ts';

/** Names that tools in use give the field with the query or the address, the most telling first. */
const usualFields = {
  web_search: ['query', 'q', 'search_query', 'searchQuery', 'search', 'keywords', 'objective', 'question', 'text'],
  web_fetch: ['url', 'uri', 'link', 'address', 'urls'],
};

/** What a search or a fetch is for: its query or its address; '' if the model gave none. */
export function askedOf({ hosted, input }: Pick<HostedCall, 'hosted' | 'input'>): string {
  const asked = input[hosted.kind === 'web_search' ? 'query' : 'url'];
  return typeof asked === 'string' ? asked : '';
}

/**
 * The input of the tool that stands behind a hosted one: what the call asks for, what the registry adds, and of what the request says
 * of its tool the fields that the schema of the input has, by the format's own names.
 */
export function hostedInput(call: HostedCall, settings: Registry['hosted_tools']): JsonObject {
  const { hosted, served, input } = call;
  if (hosted.kind === 'mcp') return input;
  const asked = askedOf(call);
  const { field, input: further = {} } = settings[hosted.kind] ?? {};
  const schema = served.inputSchema;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const name = field ?? fieldOf(properties, schema['required'], usualFields[hosted.kind]);
  const takesList = isJsonObject(properties[name]) && properties[name]['type'] === 'array';
  return { ...takenFields(hosted.hints ?? {}, properties), ...further, [name]: takesList ? [asked] : asked };
}

/** The first field with a usual name, else the only one that is required, else the usual one. */
function fieldOf(properties: JsonObject, required: Json | undefined, usual: readonly string[]): string {
  const named = usual.find((name) => properties[name] !== undefined);
  const [only, ...others] = Array.isArray(required) ? required : [];
  return named ?? (typeof only === 'string' && others.length === 0 ? only : (usual[0] ?? ''));
}

/** The fields that an input has, and whose values it takes: one that it refuses would fail the call. */
function takenFields(fields: JsonObject, properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => Object.hasOwn(properties, name) && takes(properties[name], value)),
  );
}

function takes(schema: Json | undefined, value: Json | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  const { type, enum: values, anyOf: variants } = schema;
  if (Array.isArray(variants)) return variants.some((variant) => takes(variant, value));
  if (Array.isArray(values)) return values.some((each) => each === value);
  const actual = Array.isArray(value) ? 'array' : typeof value;
  return type === undefined || type === actual || (Array.isArray(type) && type.includes(actual));
}

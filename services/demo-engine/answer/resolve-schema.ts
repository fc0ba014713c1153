import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Resolves a schema: follows references within the root, merges `allOf`, and uses the first alternative of `anyOf` or `oneOf` that is not
 * null. A reference that cannot be resolved becomes a schema that accepts any value.
 */
export function resolveSchema(root: JsonObject, schema: Json | undefined, hops = 0): JsonObject {
  if (!isJsonObject(schema) || hops > 32) return {};
  const { $ref: reference, allOf, anyOf, oneOf, ...ownFields } = schema;
  let resolved: JsonObject = ownFields;
  if (typeof reference === 'string') {
    resolved = merge(resolveSchema(root, followReference(root, reference), hops + 1), resolved);
  }
  if (Array.isArray(allOf)) {
    for (const part of allOf) resolved = merge(resolveSchema(root, part, hops + 1), resolved);
  }
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) {
    const first = alternatives.find((alternative) => !isJsonObject(alternative) || alternative['type'] !== 'null');
    resolved = merge(resolveSchema(root, first, hops + 1), resolved);
  }
  return resolved;
}

function merge(base: JsonObject, override: JsonObject): JsonObject {
  const merged: JsonObject = { ...base, ...override };
  if (isJsonObject(base['properties']) && isJsonObject(override['properties'])) {
    merged['properties'] = { ...base['properties'], ...override['properties'] };
  }
  if (Array.isArray(base['required']) && Array.isArray(override['required'])) {
    merged['required'] = [...base['required'], ...override['required']];
  }
  return merged;
}

/** Follows a JSON pointer (RFC 6901) within a document, such as `#/$defs/step`. */
function followReference(root: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  let at: Json | undefined = root;
  for (const key of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = at[Number(name)];
    else if (isJsonObject(at) && Object.hasOwn(at, name)) at = at[name];
    else return undefined;
  }
  return at;
}

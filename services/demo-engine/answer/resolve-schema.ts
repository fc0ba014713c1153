import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Resolves a schema: follows references within the root, merges `allOf`, and uses the first alternative of `anyOf` or `oneOf` that is not
 * the type `null`. A reference that cannot be resolved becomes a schema that accepts any value.
 * @param followed the references that have been merged so far. Merging a schema twice changes nothing, and would take exponential time for
 * schemas that refer to themselves.
 */
export function resolveSchema(
  root: JsonObject,
  schema: Json | undefined,
  hops = 0,
  followed = new Set<string>(),
): JsonObject {
  if (!isJsonObject(schema) || hops > 32) return {};
  const { $ref: reference, allOf, anyOf, oneOf, ...ownFields } = schema;
  let resolved: JsonObject = ownFields;
  if (typeof reference === 'string' && !followed.has(reference)) {
    followed.add(reference);
    resolved = merge(resolveSchema(root, followReference(root, reference), hops + 1, followed), resolved);
  }
  if (Array.isArray(allOf)) {
    for (const part of allOf) resolved = merge(resolveSchema(root, part, hops + 1, followed), resolved);
  }
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) {
    const chosenAlternative = alternatives.find(
      (alternative) => !isJsonObject(alternative) || alternative['type'] !== 'null',
    );
    resolved = merge(resolveSchema(root, chosenAlternative, hops + 1, followed), resolved);
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
  let value: Json | undefined = root;
  for (const key of reference.slice(1).split('/').slice(1)) {
    const name = decodeKey(key).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = value[Number(name)];
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

/** Decodes a key of a URI fragment. A key that is not encoded correctly stays as it is. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

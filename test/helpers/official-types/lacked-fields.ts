import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { resolved, type BodySchema } from './schemas.ts';

/** Returns the paths of the fields that a type requires and a value lacks, at any depth. */
export function lackedFields(schema: BodySchema, value: Json, of: JsonObject = schema.root, path = ''): string[] {
  const { anyOf, const: word, type, items, required, properties } = resolved(schema, of);
  if (Array.isArray(anyOf)) {
    // Takes the member of the union that fits best.
    const members = anyOf.filter(isJsonObject).map((member) => lackedFields(schema, value, member, path));
    return members.toSorted((one, other) => one.length - other.length)[0] ?? [];
  }
  // Another member of the union fits.
  if (word !== undefined && word !== value) return Array<string>(100).fill(`${path} is not ${JSON.stringify(word)}`);
  if (Array.isArray(value) && isJsonObject(items))
    return value.flatMap((each) => lackedFields(schema, each, items, `${path}[]`));
  if (type !== 'object') return [];
  if (!isJsonObject(value)) return [`${path} is no object`];
  const named = (Array.isArray(required) ? required : []).flatMap((name) =>
    typeof name === 'string' && !(name in value) ? [`${path}.${name}`] : [],
  );
  const inner = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, property]) =>
    isJsonObject(property) && value[name] !== undefined
      ? lackedFields(schema, value[name], property, `${path}.${name}`)
      : [],
  );
  return [...named, ...inner];
}

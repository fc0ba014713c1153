import { isJsonObject, type Json } from '#shared/core/json.ts';

/**
 * Keywords that may make a schema costly to check. The function of a keyword returns whether the keyword's value makes the schema costly.
 */
const costlyKeywords: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  pattern: (value) => typeof value === 'string',
  patternProperties: isJsonObject,
  uniqueItems: (value) => value === true,
  $ref: (value) => typeof value === 'string',
  $dynamicRef: (value) => typeof value === 'string',
  $recursiveRef: (value) => typeof value === 'string',
};

/**
 * Whether a JSON Schema is plain. For a plain schema, the check of a value takes at most time in proportion to the size of the value times
 * the size of the schema. Schemas with regular expressions (exponential time), unique items (quadratic time) or references (twice the work
 * with each level) are not plain.
 */
export function isPlainSchema(schema: Json): boolean {
  const unvisited: (Json | undefined)[] = [schema];
  while (unvisited.length > 0) {
    const part = unvisited.pop();
    if (Array.isArray(part)) unvisited.push(...part);
    else if (isJsonObject(part))
      for (const [name, value] of Object.entries(part)) {
        if (Object.hasOwn(costlyKeywords, name) && costlyKeywords[name]?.(value)) return false;
        unvisited.push(value);
      }
  }
  return true;
}

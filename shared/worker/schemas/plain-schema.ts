import type { Json } from '#shared/core/json.ts';

/** Keywords whose check takes time that grows faster than value and schema, each with a test of the keyword's value. */
const costly: Readonly<Record<string, (value: Json) => boolean>> = {
  pattern: (value) => typeof value === 'string',
  patternProperties: isObject,
  uniqueItems: (value) => value === true,
  $ref: (value) => typeof value === 'string',
  $dynamicRef: (value) => typeof value === 'string',
  $recursiveRef: (value) => typeof value === 'string',
};

/**
 * Whether the check of a value against a JSON Schema takes time in proportion to the size of the value times the size of the schema, at
 * most. Regular expressions may take exponential time, unique items a quadratic one, and references may double the work with each level.
 */
export function isPlainSchema(schema: Json): boolean {
  const open: Json[] = [schema];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (Array.isArray(each)) open.push(...each);
    else if (isObject(each))
      for (const [name, value] of Object.entries(each)) {
        if (Object.hasOwn(costly, name) && costly[name]?.(value)) return false;
        open.push(value);
      }
  }
  return true;
}

function isObject(value: Json): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillString } from './fill-string.ts';
import type { HintPool } from './find-hints.ts';
import { resolveSchema } from './resolve-schema.ts';

/** The properties of an object that get a value: `required` and named properties (`required`), or all properties (`all`). */
export type Fullness = 'required' | 'all';

/** From this depth on, only required properties get a value, because a schema may contain itself. */
const maxDepthOfOptional = 3;
const maxDepth = 24;
const maxItems = 100;
/** Maximum values in one result. An object with two required properties of its own type would otherwise have 2^24 values. */
const maxValues = 10_000;

/**
 * Returns a value that a JSON schema accepts (draft 2020-12, to the extent that tools and structured outputs use it). Uses values from the
 * user's text if they fit. Ignores `not`, `if`, `patternProperties`, and a `pattern` that matches no sample of `fill-string.ts`.
 */
export function fillSchema(schema: JsonObject, hints: HintPool, fullness: Fullness): Json {
  let values = 0;
  const fill = (unresolved: Json | undefined, property: string, depth: number): Json => {
    values += 1;
    if (values > maxValues) return null;
    const resolvedSchema = resolveSchema(schema, unresolved);
    if (resolvedSchema['const'] !== undefined) return resolvedSchema['const'];
    if (Array.isArray(resolvedSchema['enum'])) return chooseFrom(resolvedSchema['enum'], property, hints);
    if (depth > maxDepth) return null;
    switch (findType(resolvedSchema)) {
      case 'object':
        return fillObject(resolvedSchema, depth);
      case 'array':
        return fillArray(resolvedSchema, property, depth);
      case 'number':
        return fillNumber(resolvedSchema, property, hints, false);
      case 'integer':
        return fillNumber(resolvedSchema, property, hints, true);
      case 'boolean':
        return (
          hints.findNamed(property) === 'true' ||
          (hints.findNamed(property) === undefined && resolvedSchema['default'] === true)
        );
      case 'null':
        return null;
      default:
        return fillString(resolvedSchema, property, hints);
    }
  };

  const fillObject = (objectSchema: JsonObject, depth: number): JsonObject => {
    const properties = isJsonObject(objectSchema['properties']) ? objectSchema['properties'] : {};
    const required = Array.isArray(objectSchema['required'])
      ? objectSchema['required'].filter((name) => typeof name === 'string')
      : [];
    const getsValue = (name: string): boolean =>
      required.includes(name) ||
      (fullness === 'all' ? depth < maxDepthOfOptional : depth === 0 && hints.findNamed(name) !== undefined);
    const names = new Set([...Object.keys(properties).filter(getsValue), ...required]);
    return Object.fromEntries([...names].map((name) => [name, fill(properties[name], name, depth + 1)]));
  };

  const fillArray = (arraySchema: JsonObject, property: string, depth: number): Json[] => {
    const firstItems = Array.isArray(arraySchema['prefixItems']) ? arraySchema['prefixItems'] : [];
    const minLength = typeof arraySchema['minItems'] === 'number' ? arraySchema['minItems'] : 0;
    const maxLength = typeof arraySchema['maxItems'] === 'number' ? arraySchema['maxItems'] : maxItems;
    const defaultLength = depth > maxDepthOfOptional ? 0 : 1;
    const length = Math.min(Math.max(firstItems.length, minLength, defaultLength), maxLength, maxItems);
    const items = Array.from({ length }, (_, index) =>
      fill(firstItems[index] ?? arraySchema['items'], property, depth + 1),
    );
    return arraySchema['uniqueItems'] === true ? makeUnique(items, resolveSchema(schema, arraySchema['items'])) : items;
  };

  return fill(schema, '', 0);
}

function findType(schema: JsonObject): string {
  const { type } = schema;
  const types = Array.isArray(type) ? type : [type];
  const statedType = types.find((name) => name !== 'null') ?? types[0];
  if (typeof statedType === 'string') return statedType;
  if (isJsonObject(schema['properties']) || schema['required']) return 'object';
  return schema['items'] || schema['prefixItems'] ? 'array' : 'string';
}

/** Returns the enum value that the user mentions, otherwise the first value. */
function chooseFrom(values: readonly Json[], property: string, hints: HintPool): Json {
  const namedValue = hints.findNamed(property);
  const words = hints.text.toLowerCase().split(/[^\p{L}\p{N}_-]+/u);
  return (
    values.find((value) => value === namedValue) ??
    values.find((value) => typeof value === 'string' && words.includes(value.toLowerCase())) ??
    values[0] ??
    null
  );
}

function fillNumber(schema: JsonObject, property: string, hints: HintPool, isInteger: boolean): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : isInteger ? 1 : 0;
  const nudge = step || 1e-6;
  const low =
    typeof minimum === 'number' ? minimum : typeof exclusiveMinimum === 'number' ? exclusiveMinimum + nudge : -Infinity;
  const high =
    typeof maximum === 'number' ? maximum : typeof exclusiveMaximum === 'number' ? exclusiveMaximum - nudge : Infinity;
  const fits = (text: string): boolean => {
    const value = Number(text);
    return value >= low && value <= high && (step === 0 || Number.isInteger(value / step));
  };
  const namedValue = hints.findNamed(property);
  const hint = namedValue !== undefined && fits(namedValue) ? namedValue : hints.take(['number'], fits);
  if (hint !== undefined) return Number(hint);
  if (typeof schema['default'] === 'number') return schema['default'];
  const defaultValue = Math.min(Math.max(1, low), high);
  if (step === 0) return defaultValue;
  const multipleAbove = Math.ceil(defaultValue / step) * step;
  return multipleAbove <= high ? multipleAbove : Math.floor(high / step) * step;
}

function makeUnique(items: readonly Json[], itemSchema: JsonObject): Json[] {
  const values = Array.isArray(itemSchema['enum']) ? itemSchema['enum'] : undefined;
  return items.map((item, index) => {
    if (values) return values[index % values.length] ?? null;
    if (index === 0) return item;
    if (typeof item === 'number') return item + index;
    return typeof item === 'string' ? `${item} ${index + 1}` : item;
  });
}

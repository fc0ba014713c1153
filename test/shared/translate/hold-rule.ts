import { expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { refusalOf } from '../../helpers/formats/refusal-of.ts';
import type { Effect, FieldRule } from './field-rules.ts';

/** Two bodies that differ only in the field of a rule. */
export interface Example {
  with: JsonObject;
  without: JsonObject;
  /** Path of the field, if it differs from the rule's name. */
  path?: string;
}

/** Returns a function that makes an example of a body with and without these fields, and with those of `without` in any case. */
export function topOf(base: JsonObject) {
  return (fields: JsonObject, without: JsonObject = {}, path?: string): Example => ({
    with: { ...base, ...without, ...fields },
    without: { ...base, ...without },
    ...(path !== undefined && { path }),
  });
}

/** Returns an example for each of these fields, in which the base has no further field. */
export function eachAlone(base: JsonObject, fields: JsonObject): Record<string, Example> {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, topOf(base)({ [field]: value })]));
}

/**
 * Tests that every rule has an example and is right for it.
 * @param translate gets the rule's field, and a number that is another one each time, for values that are always there
 */
export function testRules(
  rules: readonly FieldRule[],
  examples: Readonly<Record<string, Example>>,
  translate: (body: JsonObject, field: string, count: number) => JsonObject,
): void {
  it('each have an example, and each example has a rule', () => {
    expect(Object.keys(examples).toSorted()).toEqual(rules.map(({ field }) => field).toSorted());
  });

  it.each(rules.map(({ field, effect }) => [field, effect] as const))('are right for %s', (field, effect) => {
    let count = 0;
    holdRule(field, effect, examples[field] ?? { with: {}, without: {} }, (body) => translate(body, field, ++count));
  });
}

/** Returns the upstream's name of the model. The name changes with each call for the rule about the model. */
export function targetFor(field: string, count: number): string {
  return field === 'model' ? `target-${count}` : 'target';
}

/** Compares a rule with the translator. */
function holdRule(field: string, effect: Effect, example: Example, translate: (body: JsonObject) => JsonObject): void {
  const path = example.path ?? field.split(/[ ,]/)[0] ?? '';
  switch (effect.kind) {
    case 'passed': {
      const given = collect(example.with, path);
      expect(given).not.toEqual([]);
      expect(collect(translate(example.with), path)).toEqual(given);
      expect(collect(translate(example.without), path)).not.toEqual(given);
      return;
    }
    case 'translated': {
      const got = collect(translate(example.with), effect.to);
      expect(got).not.toEqual([]);
      expect(got).not.toEqual(collect(translate(example.without), effect.to));
      return;
    }
    case 'ignored':
      expect(example.with).not.toEqual(example.without);
      expect(translate(example.with)).toEqual(translate(example.without));
      return;
    case 'refused': {
      translate(example.without);
      const error = refusalOf(() => translate(example.with));
      expect(['unsupported_parameter', 'invalid_request']).toContain(error.code);
      // The error for an unsupported part or item names its type, not the field of the rule.
      const place = path.replace(/\[\]\.\w+$/, '[]');
      expect(error.param?.replaceAll(/\[\d+\]|\.\d+/g, '[]')).toContain(place);
      expect(error.message).toContain(error.param);
    }
  }
}

/** Returns all values at a path, with `[]` for every element. */
function collect(body: JsonObject, path: string): Json[] {
  let values: Json[] = [body];
  for (const step of path.split('.')) {
    const name = step.replace('[]', '');
    values = values
      .flatMap((value) => (isJsonObject(value) ? [value[name]] : []))
      .flatMap((value) => (step.endsWith('[]') && Array.isArray(value) ? value : [value]))
      .filter((value) => value !== undefined);
  }
  return values;
}

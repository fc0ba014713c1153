import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { compileInputCheck } from '#services/tools-worker/check-input.ts';
import type { JsonObject } from '#shared/core/json.ts';

const schema: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    kind: { enum: ['a', 'b', 3] },
    items: { type: 'array', items: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } },
    either: { anyOf: [{ type: 'string' }, { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }] },
    'odd/name~': { type: 'number' },
    code: { type: 'string', pattern: '^[0-9]+$' },
    fixed: { const: 'a' },
    short: { type: 'string', maxLength: 3 },
    never: { not: { type: 'string' } },
  },
  required: ['name'],
  additionalProperties: false,
};

function errorOf(run: () => void): object {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('the check passed');
}

describe('the check of an input', () => {
  const check = compileInputCheck(schema);

  it('passes an input that matches', () => {
    expect(() => check({ name: 'Ada', items: [{ size: 1 }], kind: 3, either: { x: 1 } })).not.toThrow();
  });

  it.each<[JsonObject, param: string, code?: string]>([
    [{ kind: 'my-secret' }, 'name', 'missing_parameter'],
    [{ name: 'A' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'Ada', kind: 'my-secret' }, 'kind'],
    [{ name: 'Ada', items: [{ size: 1 }, {}] }, 'items[1].size', 'missing_parameter'],
    [{ name: 'Ada', items: [{ size: 'my-secret' }] }, 'items[0].size'],
    [{ name: 'Ada', items: [{ size: 1.5 }] }, 'items[0].size'],
    [{ name: 'Ada', either: { x: 'my-secret' } }, 'either.x'],
    [{ name: 'Ada', either: 5 }, 'either'],
    [{ name: 'Ada', more: 'my-secret' }, 'more', 'unsupported_parameter'],
    [{ name: 'Ada', 'odd/name~': 'my-secret' }, 'odd/name~'],
    [{ name: 'Ada', code: 'my-secret' }, 'code'],
    [{ name: 'Ada', fixed: 'my-secret' }, 'fixed'],
    [{ name: 'Ada', short: 'my-secret' }, 'short'],
    [{ name: 'Ada', never: 'my-secret' }, 'never'],
  ])('that is wrong, as %j, names %s and repeats no value', (input, param, code = 'invalid_request') => {
    const error = errorOf(() => check(input));
    expect(error).toBeInstanceOf(RouterError);
    expect(error).toMatchObject({ code, param: `input.${param}`, message: expect.stringMatching(/input\.\w+/) });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('secret');
  });

  it('names the values that are allowed', () => {
    expect(() => check({ name: 'Ada', kind: 'c' })).toThrow(
      `Invalid value for 'input.kind': must be one of "a", "b", 3.`,
    );
    expect(() => check({ name: 7 })).toThrow("Invalid value for 'input.name': must be string.");
  });
});

describe('compiling a schema', () => {
  it('reads a schema of an older draft by its own rules', () => {
    const tuple = { type: 'object', properties: { pair: { items: [{ type: 'string' }], additionalItems: false } } };
    const check = compileInputCheck({ ...tuple, $schema: 'http://json-schema.org/draft-07/schema#' });
    expect(() => check({ pair: ['a', 'b'] })).toThrow('input.pair');
    const newer = compileInputCheck({
      type: 'object',
      properties: { pair: { prefixItems: [{ type: 'string' }], items: false } },
      $schema: 'https://json-schema.org/draft/2020-12/schema',
    });
    expect(() => newer({ pair: ['a', 'b'] })).toThrow('input.pair');
  });

  it('allows unknown keywords and formats, and the same id twice', () => {
    const odd = {
      $id: 'https://one.test/schema',
      type: 'object',
      properties: { a: { type: 'string', format: 'odd', hint: 1 } },
    };
    for (let time = 0; time < 2; time += 1) expect(() => compileInputCheck(odd)({ a: 'x' })).not.toThrow();
  });

  it('refuses what is not a valid schema', () => {
    expect(() => compileInputCheck({ type: 'any' })).toThrow();
    expect(() => compileInputCheck({ type: 'object', properties: { a: { $ref: 'https://x.test/y' } } })).toThrow();
  });
});

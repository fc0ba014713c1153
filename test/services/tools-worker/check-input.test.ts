import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { compileInputCheck } from '#services/tools-worker/check-input.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { errorWith } from '../../helpers/error-with.ts';
import { InvalidSchemaError } from '#shared/worker/schemas/untrusted-schema.ts';

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

/** Bytes of the inputs. */
const bytes = 100;

/** The error of a check; `passed` if there is none. */
const errorOf = (checked: Promise<void>): Promise<unknown> =>
  checked.then(
    () => 'passed',
    (error: unknown) => error,
  );

describe("the check of a tool's input", () => {
  const check = compileInputCheck(schema);

  it('accepts an input that matches', async () => {
    const input = { name: 'Ada', items: [{ size: 1 }], kind: 3, either: { x: 1 } };
    await expect(check(input, bytes)).resolves.toBeUndefined();
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
  ])('refuses %j with the field %s, and repeats no value', async (input, param, code = 'invalid_request') => {
    const error = await errorOf(check(input, bytes));
    expect(error).toBeInstanceOf(RouterError);
    expect(error).toMatchObject({ code, param: `input.${param}`, message: expect.stringMatching(/input\.\w+/) });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error as object))).not.toContain('secret');
  });

  it('lists the allowed values', async () => {
    await expect(check({ name: 'Ada', kind: 'c' }, bytes)).rejects.toThrow(
      `Invalid value for 'input.kind': must be one of "a", "b", 3.`,
    );
    await expect(check({ name: 7 }, bytes)).rejects.toThrow("Invalid value for 'input.name': must be string.");
  });

  const levels = Array.from({ length: 40 }, (_, at) => {
    const next = { $ref: `#/$defs/d${at + 1}` };
    return [`d${at}`, at === 39 ? { type: 'object' } : { allOf: [next, next] }] as const;
  });
  const doubling = { $defs: Object.fromEntries(levels), $ref: '#/$defs/d0' };

  it.each<[string, JsonObject, JsonObject]>([
    [
      'a pattern that takes exponential time',
      { properties: { a: { pattern: '^(x+)+$' } } },
      { a: `${'x'.repeat(40)}!` },
    ],
    ['references that double the work with each level', doubling, {}],
  ])('that %s is refused, and holds up nothing else', async (_, slow, input) => {
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 10);
    const error = await errorOf(compileInputCheck(slow)(input, bytes));
    clearInterval(timer);
    expect(error).toEqual(errorWith('invalid_request', { param: 'input', message: expect.stringMatching(/too long/) }));
    expect(ticks).toBeGreaterThan(3);
  });

  it('finds two equal items among many, and blocks nothing else', async () => {
    const unique = compileInputCheck({ properties: { a: { type: 'array', uniqueItems: true } } });
    const a = Array.from({ length: 200 }, (_, at) => ({ at, name: `${at}` }));
    await expect(unique({ a }, 10_000)).resolves.toBeUndefined();
    await expect(unique({ a: [...a, { at: 7, name: '7' }] }, 10_000)).rejects.toThrow('input.a');
  });
});

describe("compiling a tool's schema", () => {
  it('reads a schema of an older draft by its own rules', async () => {
    const tuple = { type: 'object', properties: { pair: { items: [{ type: 'string' }], additionalItems: false } } };
    const check = compileInputCheck({ ...tuple, $schema: 'http://json-schema.org/draft-07/schema#' });
    await expect(check({ pair: ['a', 'b'] }, bytes)).rejects.toThrow('input.pair');
    const properties = { pair: { prefixItems: [{ type: 'string' }], items: false } };
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    const newer = compileInputCheck({ type: 'object', properties, $schema });
    await expect(newer({ pair: ['a', 'b'] }, bytes)).rejects.toThrow('input.pair');
  });

  it('allows unknown keywords and formats, and the same id twice', async () => {
    const properties = { a: { type: 'string', format: 'odd', hint: 1 } };
    const odd = { $id: 'https://one.test/schema', type: 'object', properties };
    for (let time = 0; time < 2; time += 1)
      await expect(compileInputCheck(odd)({ a: 'x' }, bytes)).resolves.toBeUndefined();
  });

  it('refuses an invalid schema', async () => {
    expect(() => compileInputCheck({ type: 'any' })).toThrow(InvalidSchemaError);
    const unknown = compileInputCheck({ type: 'object', properties: { a: { $ref: 'https://x.test/y' } } });
    await expect(unknown({}, bytes)).rejects.toThrow(InvalidSchemaError);
  });
});

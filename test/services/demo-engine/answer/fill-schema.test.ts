import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fillSchema } from '#services/demo-engine/answer/fill-schema.ts';
import { findHints, HintPool } from '#services/demo-engine/answer/find-hints.ts';
import type { JsonObject } from '#shared/core/json.ts';

const fill = (schema: JsonObject, text = '', fullness: 'required' | 'all' = 'all') =>
  fillSchema(schema, new HintPool(findHints(text)), fullness);

const self = { $ref: '#' };
const twice = { type: 'object', properties: { a: self, b: self }, required: ['a', 'b'] };

describe('a value for a JSON schema', () => {
  it.each<[string, z.ZodType]>([
    ['flat object', z.object({ name: z.string(), age: z.int().min(18).max(99), ok: z.boolean() })],
    ['strict object', z.strictObject({ steps: z.array(z.strictObject({ why: z.string(), output: z.string() })) })],
    ['enumeration', z.object({ unit: z.enum(['celsius', 'fahrenheit']), fixed: z.literal('x') })],
    ['nullable and union', z.object({ a: z.string().nullable(), b: z.union([z.number(), z.string()]) })],
    ['limits of texts', z.object({ a: z.string().min(20).max(30) })],
    ['limits', z.object({ b: z.number().gt(5).lt(6), c: z.array(z.int()).min(3).max(4) })],
    ['multiples', z.object({ a: z.int().min(7).multipleOf(5), b: z.number().max(-3) })],
    ['formats', z.object({ a: z.email(), b: z.uuid(), c: z.iso.datetime(), d: z.iso.date(), e: z.url() })],
    ['tuple', z.object({ pair: z.tuple([z.string(), z.int()]) })],
    ['pattern', z.object({ code: z.string().regex(/^[A-Z]{2}$/) })],
    ['intersection', z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() }))],
    ['deep object', z.object({ a: z.object({ b: z.object({ c: z.object({ d: z.object({ e: z.int() }) }) }) }) })],
  ])('satisfies it: %s', (_name, schema) => {
    const value = fill(z.toJSONSchema(schema) as JsonObject, 'Anna is 42 years old, at https://example.org.');
    expect(() => schema.parse(value)).not.toThrow();
  });

  it('takes no time for a pattern that takes exponential time', () => {
    const schema = { type: 'object', properties: { code: { type: 'string', pattern: '^(x+)+$' } }, required: ['code'] };
    const begun = performance.now();
    fill(schema, `Its code is "${'x'.repeat(40)}!".`);
    // It would take hours.
    expect(performance.now() - begun).toBeLessThan(30_000);
  });

  it('terminates for a schema that contains itself', () => {
    const properties = { name: { type: 'string' }, next: { $ref: '#/$defs/node' } };
    const node = { type: 'object', properties, required: ['name'] };
    const value = fill({ $ref: '#/$defs/node', $defs: { node } });
    expect(value).toMatchObject({ name: 'demo', next: { name: 'demo' } });
    expect(() => fill({ $ref: '#' })).not.toThrow();
    expect(() => fill({ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] })).not.toThrow();
  });

  it.each<[string, JsonObject]>([
    ['that contains itself twice in `allOf`', { type: 'string', allOf: [{ $ref: '#' }, { $ref: '#' }] }],
    ['that contains itself in two required properties', twice],
    ['whose arrays contain themselves', { type: 'array', items: { $ref: '#' }, minItems: 100 }],
  ])('takes no time for a schema %s', (_, schema) => {
    const begun = performance.now();
    fill(schema);
    // It would take minutes at least.
    expect(performance.now() - begun).toBeLessThan(30_000);
  });

  it('ignores a reference that is not encoded correctly', () => {
    expect(fill({ $ref: '#/$defs/50%', $defs: { '50%': { const: 'half' } } })).toBe('half');
    expect(fill({ $ref: '#/$defs/%' })).toBe('demo');
  });

  it('does not take any value in the text for a value without a name', () => {
    expect(fill({ type: 'string' }, 'Answer : no')).not.toBe('no');
  });

  it('takes values from the text where they fit', () => {
    const unit = z.enum(['celsius', 'fahrenheit']);
    const schema = z.toJSONSchema(z.object({ city: z.string(), days: z.int(), unit, file_path: z.string() }));
    const value = fill(schema as JsonObject, 'Weather in Paris for 3 days in Fahrenheit into "/tmp/my file.txt"');
    expect(value).toEqual({ city: 'Paris', days: 3, unit: 'fahrenheit', file_path: '/tmp/my file.txt' });
  });

  it('fills an optional property only when the user names it', () => {
    const properties = { path: { type: 'string' }, limit: { type: 'integer' } };
    const schema = { type: 'object', properties, required: ['path'] };
    expect(fill(schema, '/a.txt', 'required')).toEqual({ path: '/a.txt' });
    expect(fill(schema, 'path=/b limit: 5', 'required')).toEqual({ path: '/b', limit: 5 });
  });
});

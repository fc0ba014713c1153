import { describe, expect, it } from 'vitest';
import { FieldProblem, formFields, readForm } from '#services/console/web/pages/tools/form-fields.ts';

const schema = {
  type: 'object',
  required: ['name', 'count'],
  properties: {
    name: { type: 'string', description: 'Who' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    size: { type: 'number', default: 1.5 },
    loud: { type: 'boolean' },
    mood: { type: 'string', enum: ['good', 'bad'] },
    words: { type: 'array', items: { type: 'string' } },
    more: { type: 'object', properties: {} },
  },
};

describe("a tool's form", () => {
  it('has an input for each field of the schema, by its type', () => {
    const fields = formFields(schema) ?? [];
    const kinds = 'name: text, count: integer, size: number, loud: boolean, mood: choice, words: texts, more: json';
    expect(fields.map(({ name, kind }) => `${name}: ${kind}`).join(', ')).toBe(kinds);
    expect(fields[0]).toMatchObject({ isRequired: true, description: 'Who' });
    expect(fields[1]).toMatchObject({ minimum: 1, maximum: 9 });
    expect(fields[2]).toMatchObject({ initial: '1.5', isRequired: false });
  });

  it('asks for JSON where it cannot show the schema', () => {
    expect(formFields({ type: 'array' })).toBeUndefined();
    expect(formFields({ type: 'object', oneOf: [] })).toBeUndefined();
    expect(formFields({ type: 'object' })).toEqual([]);
  });

  it("is read into the schema's types, without empty fields", () => {
    const fields = formFields(schema) ?? [];
    const written = { name: 'Ada', count: '3', loud: 'true', words: 'a\nb\n', more: '{"x": [1]}' };
    const read = { name: 'Ada', count: 3, size: 1.5, loud: true, words: ['a', 'b'], more: { x: [1] } };
    expect(readForm(fields, written)).toEqual(read);
    expect(readForm(fields, { name: '', count: '1', size: '' })).toEqual({ name: '', count: 1 });
  });

  it.each([
    [{}, 'count', /required/],
    [{ count: '1.5' }, 'count', /whole/],
    [{ count: 'x' }, 'count', /number/],
    [{ count: '1', more: '{' }, 'more', /JSON/],
  ])('names the invalid field: %j', (written, field, message) => {
    const read = () => readForm(formFields(schema) ?? [], written);
    expect(read).toThrow(FieldProblem);
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ field }));
  });
});

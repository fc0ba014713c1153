import { describe, expect, it } from 'vitest';
import { addDefaults } from '#shared/formats/json-request.ts';

describe('defaults of a registry name', () => {
  const body = Buffer.from(' { "model": "fast", "temperature": 1 }');
  const given: unknown = JSON.parse(body.toString());

  it('add the fields that a body lacks, and change nothing else', () => {
    const filled = addDefaults(body, given, { temperature: 0.2, max_tokens: 50, stop: ['x'] });
    expect(JSON.parse(filled.toString())).toEqual({ model: 'fast', temperature: 1, max_tokens: 50, stop: ['x'] });
  });

  it('leave a complete body unchanged', () => {
    expect(addDefaults(body, given, { temperature: 0.2 })).toBe(body);
  });
});

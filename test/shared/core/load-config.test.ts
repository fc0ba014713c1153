import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadConfig, setting } from '#shared/core/load-config.ts';

const schema = z.object({ PORT: setting.integer('the port', 8484, 1, 65_535) });

describe('a whole number among the settings', () => {
  it('is read from decimal digits', () => {
    expect(loadConfig(schema, { PORT: '8080' })).toEqual({ PORT: 8080 });
    expect(loadConfig(schema, { PORT: '' })).toEqual({ PORT: 8484 });
  });

  it.each([' ', '0x1F90', 'abc', '1e3', '8080.0', '-1', '0', '65536'])('is not %j', (value) => {
    const sentence = `PORT=${JSON.stringify(value)} is not valid: must be a whole number from 1 to 65535 (the port)`;
    expect(() => loadConfig(schema, { PORT: value })).toThrow(sentence);
  });
});

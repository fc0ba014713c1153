import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadConfig, setting } from '#shared/core/load-config.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';

const schema = z.object({ PORT: setting.integer('the port', 8484, 1, 65_535) });

describe('a setting that is a whole number', () => {
  it('is read from decimal digits', () => {
    expect(loadConfig(schema, { PORT: '8080' })).toEqual({ PORT: 8080 });
    expect(loadConfig(schema, { PORT: '' })).toEqual({ PORT: 8484 });
  });

  it.each([' ', '0x1F90', 'abc', '1e3', '8080.0', '-1', '0', '65536'])('cannot be %j', (value) => {
    const sentence = `PORT=${JSON.stringify(value)} is not valid: must be a whole number from 1 to 65535 (the port)`;
    expect(() => loadConfig(schema, { PORT: value })).toThrow(sentence);
  });
});

describe('a setting in a file', () => {
  function fileWith(text: string): string {
    const file = join(temporaryFolder(), 'secret');
    writeFileSync(file, text);
    return file;
  }

  it('has the value of the file, without the line break at its end', () => {
    expect(loadConfig(schema, { PORT_FILE: fileWith('8080\n') })).toEqual({ PORT: 8080 });
    expect(loadConfig(schema, { PORT_FILE: '' })).toEqual({ PORT: 8484 });
  });

  it('is not quoted if it is invalid', () => {
    const read = () => loadConfig(schema, { PORT_FILE: fileWith('hunter2') });
    expect(read).toThrow('PORT is not valid: must be a whole number');
    expect(read).not.toThrow('hunter2');
  });

  it.each([
    ['PORT_FILE=/nowhere/secret cannot be read', {}],
    ['PORT and PORT_FILE are both set', { PORT: '1' }],
  ])('is refused with a sentence that names what is wrong: %s', (sentence, others) => {
    expect(() => loadConfig(schema, { PORT_FILE: '/nowhere/secret', ...others })).toThrow(sentence);
  });
});

import { expect, it } from 'vitest';
import { assertSchema, createSchemaCheck, InvalidSchemaError } from '#shared/worker/schemas/schema-check.ts';

it('a schema that only has to compile is checked again where it must match its meta-schema', async () => {
  // A schema with a pattern compiles in another thread; a negative length compiles, but the meta-schema forbids it.
  const schema = { type: 'string', pattern: '^a', minLength: -1 };
  await assertSchema({ schema, mustMatchMetaSchema: false });
  await expect(assertSchema({ schema, mustMatchMetaSchema: true })).rejects.toThrow(InvalidSchemaError);
  await assertSchema({ schema, mustMatchMetaSchema: false });
});

it('costly checks of one owner delay a check of another owner by one or two of them', async () => {
  // Each character doubles the time of this pattern: a check takes about a tenth of a second.
  const check = createSchemaCheck({ schema: { type: 'string', pattern: '^(x+)+$' }, mustMatchMetaSchema: false });
  const ended: string[] = [];
  const run = async (owner: string): Promise<void> => {
    const value = `${'x'.repeat(22)}!`;
    await check(value, value.length, owner);
    ended.push(owner);
  };
  await Promise.all([...Array<string>(8).fill('ada'), 'bob'].map(run));
  // Two of Ada's checks run when Bob's check comes, and one more may be next.
  expect(ended.indexOf('bob')).toBeLessThanOrEqual(4);
});

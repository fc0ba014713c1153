import { expect, it } from 'vitest';
import { assertSchema, InvalidSchemaError } from '#shared/worker/schemas/schema-check.ts';

it('a schema that only has to compile is checked again where it must match its meta-schema', async () => {
  // A schema with a pattern compiles in another thread; a negative length compiles, but the meta-schema forbids it.
  const schema = { type: 'string', pattern: '^a', minLength: -1 };
  await assertSchema({ schema, mustMatchMetaSchema: false });
  await expect(assertSchema({ schema, mustMatchMetaSchema: true })).rejects.toThrow(InvalidSchemaError);
  await assertSchema({ schema, mustMatchMetaSchema: false });
});

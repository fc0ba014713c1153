import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { CostlySchemaError } from '#shared/worker/schemas/schema-threads.ts';
import { assertSchema, createSchemaCheck, InvalidSchemaError } from '#shared/worker/schemas/schema-check.ts';

/**
 * Returns whether an answer matches the client's schema.
 * @throws RouterError `invalid_request` if the schema cannot be applied
 */
export type AnswerValidator = (answer: Json) => Promise<boolean>;

/**
 * Creates the check of answers against a schema. opencode asks the model for an answer with the schema, but does not check the answer.
 * @throws RouterError `invalid_request` for an invalid schema, or one that takes too long to check
 */
export async function createAnswerValidator(schema: JsonObject): Promise<AnswerValidator> {
  const untrustedSchema = { schema, mustMatchMetaSchema: true };
  return convertSchemaErrors(async () => {
    const check = createSchemaCheck(untrustedSchema);
    await assertSchema(untrustedSchema);
    return (answer) =>
      convertSchemaErrors(async () => (await check(answer, JSON.stringify(answer).length)).length === 0);
  });
}

async function convertSchemaErrors<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof InvalidSchemaError)
      throw new RouterError('invalid_request', 'The JSON schema of the answer is not valid.', { cause: error });
    if (error instanceof CostlySchemaError)
      throw new RouterError('invalid_request', 'The JSON schema of the answer takes too long to check.', {
        cause: error,
      });
    throw error;
  }
}

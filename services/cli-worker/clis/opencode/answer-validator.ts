import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { CostlySchemaError } from '#shared/worker/schemas/schema-threads.ts';
import { assertSchema, checkOfStrangers, InvalidSchemaError } from '#shared/worker/schemas/strangers-schema.ts';

/** Whether an answer has the schema that the client wants. @throws RouterError `invalid_request` if that cannot be found out */
export type AnswerValidator = (answer: Json) => Promise<boolean>;

/**
 * Makes a check whether an answer has a schema, which opencode asks the model for and does not check.
 * @throws RouterError `invalid_request` for a schema that is none, or takes too long
 */
export async function answerValidator(schema: JsonObject): Promise<AnswerValidator> {
  const strangers = { schema, isChecked: true };
  return asked(async () => {
    const check = checkOfStrangers(strangers);
    await assertSchema(strangers);
    return (answer) => asked(async () => (await check(answer, JSON.stringify(answer).length)).length === 0);
  });
}

async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
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

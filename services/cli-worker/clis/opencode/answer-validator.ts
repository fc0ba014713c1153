import { Ajv2020 } from 'ajv/dist/2020.js';
import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';

/**
 * Makes a check whether an answer has a schema, which opencode asks the model for and does not check.
 * @throws RouterError `invalid_request` for a schema that is none
 */
export function answerValidator(schema: JsonObject): (answer: Json) => boolean {
  try {
    return new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
  } catch (error) {
    throw new RouterError('invalid_request', 'The JSON schema of the answer is not valid.', { cause: error });
  }
}

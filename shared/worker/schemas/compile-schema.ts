import { Ajv, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '#shared/core/json.ts';

export type SchemaProblem = Pick<ErrorObject, 'instancePath' | 'keyword' | 'message'> & {
  params: Readonly<Record<string, unknown>>;
};

export interface UntrustedSchema {
  schema: JsonObject;
  /** Whether the schema must be valid by its meta-schema. Otherwise, the schema only has to compile. */
  mustMatchMetaSchema: boolean;
}

/** Unknown keywords are allowed, and `format` is an annotation only (JSON Schema 2020-12 Validation, 7.2.1). */
const ajvOptions = { strict: false, validateFormats: false, logger: false } as const;
const uncheckedAjvOptions = { ...ajvOptions, validateSchema: false, meta: false } as const;

/**
 * Compiles a schema, as JSON Schema 2020-12 unless `$schema` names an older draft (Model Context Protocol, "JSON Schema Usage").
 * @returns a function that returns the problems of a value; an empty list for a valid value
 * @throws Error for an invalid schema, for example with a type that does not exist
 */
export function compileSchema({ schema, mustMatchMetaSchema }: UntrustedSchema): (value: Json) => SchemaProblem[] {
  // Each schema has its own validator, so that ids of different schemas do not clash, and the validator's memory is freed with the schema.
  const { $schema: dialect } = schema;
  const isOlderDraft = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  const options = mustMatchMetaSchema ? ajvOptions : uncheckedAjvOptions;
  const validate = (isOlderDraft ? new Ajv(options) : new Ajv2020(options)).compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(toProblem));
}

function toProblem({ instancePath, keyword, params, message }: ErrorObject): SchemaProblem {
  return {
    instancePath,
    keyword,
    params: params as Record<string, unknown>,
    ...(message !== undefined && { message }),
  };
}

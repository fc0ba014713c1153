import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { fieldPath } from './tool.ts';

/** Checks an input. @throws RouterError with status 400 and the field */
export type InputCheck = (input: JsonObject) => void;

/** Unknown keywords are allowed, and `format` is an annotation only (JSON Schema 2020-12 Validation, 7.2.1). */
const settings = { strict: false, validateFormats: false, validateSchema: false, meta: false, logger: false } as const;

/**
 * Compiles a tool's schema, as JSON Schema 2020-12 unless `$schema` names an older draft (Model Context Protocol, "JSON
 * Schema Usage").
 * @throws Error when it is not a schema, as with a type that does not exist
 */
export function compileInputCheck(schema: JsonObject): InputCheck {
  // One validator for each schema: ids of different tools do not clash, and memory is freed with the tool.
  const { $schema: dialect } = schema;
  const isOlder = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  const validate: ValidateFunction = (isOlder ? new Ajv(settings) : new Ajv2020(settings)).compile(schema);
  return (input) => {
    if (!validate(input)) throw refusal(validate.errors ?? []);
  };
}

/** Reports the deepest of the errors: in a union it belongs to the branch that matches best. */
function refusal(errors: readonly ErrorObject[]): RouterError {
  const [worst] = errors.toSorted((a, b) => depth(b) - depth(a));
  if (!worst)
    return new RouterError('invalid_request', "The tool's input does not match its schema.", { param: 'input' });
  const steps = worst.instancePath.split('/').slice(1).map(unescapeStep);
  switch (worst.keyword) {
    case 'required': {
      const param = fieldPath([...steps, String(worst.params['missingProperty'])]);
      return new RouterError('missing_parameter', `Missing required parameter: '${param}'.`, { param });
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const extra = worst.params['additionalProperty'] ?? worst.params['unevaluatedProperty'];
      const param = fieldPath([...steps, String(extra)]);
      return new RouterError('unsupported_parameter', `Unknown parameter: '${param}'.`, { param });
    }
    default: {
      const param = fieldPath(steps);
      return new RouterError('invalid_request', `Invalid value for '${param}': ${expectation(worst)}.`, { param });
    }
  }
}

function expectation({ keyword, params, message = 'does not match its schema' }: ErrorObject): string {
  if (keyword !== 'enum') return message;
  return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
}

function depth({ instancePath }: ErrorObject): number {
  return instancePath.split('/').length;
}

/** JSON Pointer's own escapes (RFC 6901). */
function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { SchemaProblem } from '#shared/worker/schemas/compile-schema.ts';
import { CostlySchemaError } from '#shared/worker/schemas/schema-threads.ts';
import { createSchemaCheck, type SchemaCheck } from '#shared/worker/schemas/schema-check.ts';
import { formatInputPath } from './tool.ts';

/**
 * Checks an input.
 * @param bytes size of the input as JSON, or an upper bound of it
 * @param owner names the owner whose turn a costly check takes
 * @throws RouterError with status 400 that names the wrong field
 * @throws InvalidSchemaError for an invalid schema
 */
export type InputCheck = (input: JsonObject, bytes: number, owner?: string) => Promise<void>;

/**
 * Prepares the check of inputs against a tool's schema.
 * @throws InvalidSchemaError for a schema with an obvious mistake, such as a type that does not exist
 */
export function compileInputCheck(schema: JsonObject): InputCheck {
  const check = createSchemaCheck({ schema, mustMatchMetaSchema: false });
  return async (input, bytes, owner) => {
    const problems = await findProblems(() => check(input, bytes, owner));
    if (problems.length > 0) throw createInputError(problems);
  };
}

async function findProblems(check: () => ReturnType<SchemaCheck>): Promise<SchemaProblem[]> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof CostlySchemaError)) throw error;
    const message = "It takes too long to check the tool's input against its schema.";
    throw new RouterError('invalid_request', message, { param: 'input', cause: error });
  }
}

/** Creates the error for the deepest problem. In a union, the deepest problem belongs to the branch that matches best. */
function createInputError(errors: readonly SchemaProblem[]): RouterError {
  const [deepest] = errors.toSorted((a, b) => computeDepth(b) - computeDepth(a));
  if (!deepest)
    return new RouterError('invalid_request', "The tool's input does not match its schema.", { param: 'input' });
  const steps = deepest.instancePath.split('/').slice(1).map(unescapeStep);
  switch (deepest.keyword) {
    case 'required': {
      const param = formatInputPath([...steps, String(deepest.params['missingProperty'])]);
      return new RouterError('missing_parameter', `Missing required parameter: '${param}'.`, { param });
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const extra = deepest.params['additionalProperty'] ?? deepest.params['unevaluatedProperty'];
      const param = formatInputPath([...steps, String(extra)]);
      return new RouterError('unsupported_parameter', `Unknown parameter: '${param}'.`, { param });
    }
    default: {
      const param = formatInputPath(steps);
      return new RouterError('invalid_request', `Invalid value for '${param}': ${describeExpectation(deepest)}.`, {
        param,
      });
    }
  }
}

function describeExpectation({ keyword, params, message = 'does not match its schema' }: SchemaProblem): string {
  if (keyword !== 'enum') return message;
  return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
}

function computeDepth({ instancePath }: SchemaProblem): number {
  return instancePath.split('/').length;
}

/** Resolves the escapes of JSON Pointer (RFC 6901). */
function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

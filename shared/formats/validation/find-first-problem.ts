import type { z } from 'zod';

/** The path from a request's body to a field: names of fields and positions in arrays. */
export type FieldPath = readonly (string | number)[];

/** A problem of one field of a request. Each format writes its own error message for the problem. */
export type Problem = { path: FieldPath; got: unknown } & (
  | { kind: 'missing' }
  /** The value has none of these JSON types and is none of these strings. */
  | { kind: 'expected'; types: readonly string[]; values: readonly string[] }
  | { kind: 'too_small'; of: 'number' | 'array' | 'string'; minimum: number }
  | { kind: 'too_big'; of: 'number' | 'array' | 'string'; maximum: number }
);

type Issue = z.core.$ZodIssue;

/**
 * Returns the first problem that a schema found. For a union, returns the problem of the first branch that fits the value in part. If no
 * branch does, lists all types and values that the branches accept.
 */
export function findFirstProblem(error: z.ZodError, body: unknown): Problem {
  const issue = error.issues[0];
  if (issue === undefined) throw new Error('a schema failed without an issue');
  return toProblem(issue, [], body);
}

function toProblem(issue: Issue, parent: FieldPath, body: unknown): Problem {
  const path = [...parent, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
  const got = findValue(body, path);
  if (got === undefined && path.length > 0) return { path, got, kind: 'missing' };
  switch (issue.code) {
    case 'invalid_type':
      return { path, got, kind: 'expected', types: [toTypeName(issue.expected)], values: [] };
    case 'invalid_value':
      return { path, got, kind: 'expected', types: [], values: issue.values.map(String) };
    case 'too_small':
      return { path, got, kind: 'too_small', of: toSizeKind(issue.origin), minimum: Number(issue.minimum) };
    case 'too_big':
      return { path, got, kind: 'too_big', of: toSizeKind(issue.origin), maximum: Number(issue.maximum) };
    case 'invalid_union':
      return toUnionProblem(issue, path, got, body);
    default:
      throw new Error(`unknown issue of a schema: ${issue.code}`);
  }
}

function toUnionProblem(issue: z.core.$ZodIssueInvalidUnion, path: FieldPath, got: unknown, body: unknown): Problem {
  if (issue.errors.length === 0) {
    const { options } = issue as { options?: readonly unknown[] };
    return { path, got, kind: 'expected', types: [], values: (options ?? []).map(String) };
  }
  const firstIssues = issue.errors.flatMap((issues) => issues.slice(0, 1));
  const fittingIssue = firstIssues.find(
    ({ code, path }) => path.length > 0 || !['invalid_type', 'invalid_value'].includes(code),
  );
  if (fittingIssue) return toProblem(fittingIssue, path, body);
  return {
    path,
    got,
    kind: 'expected',
    types: firstIssues.flatMap((first) => (first.code === 'invalid_type' ? [toTypeName(first.expected)] : [])),
    values: firstIssues.flatMap((first) => (first.code === 'invalid_value' ? first.values.map(String) : [])),
  };
}

function findValue(body: unknown, path: FieldPath): unknown {
  let value = body;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

function toTypeName(zodName: string): string {
  return zodName === 'int' ? 'integer' : zodName === 'record' ? 'object' : zodName;
}

function toSizeKind(origin: string): 'number' | 'array' | 'string' {
  return origin === 'array' || origin === 'string' ? origin : 'number';
}

import { LineCounter, parseDocument } from 'yaml';
import { RouterError } from '#shared/core/errors.ts';
import { describeIssue } from '#shared/core/describe-issue.ts';
import { protoFieldMessage, toPlainValue, findProtoFields } from '#shared/registry/plain-value.ts';
import { findLine, formatProblem, type RegistryProblem } from '#shared/registry/registry-problem.ts';
import { accessSchema, type Access } from './access-schema.ts';

/** Maximum number of problems to report. */
const maxProblems = 20;

export interface AccessFile {
  access: Access;
  /** Creates the error for a mistake in the file. The error names the file, the line and the field. */
  createError: (path: readonly string[], message: string) => RouterError;
}

/**
 * Reads a file for `rtr apply`.
 * @param name name of the file, for errors
 * @throws RouterError `invalid_request` that names the first 20 mistakes with their lines and fields
 */
export function readAccess(name: string, text: string): AccessFile {
  const lines = new LineCounter();
  const document = readOrRefuse(name, () => parseDocument(text, { lineCounter: lines, merge: true }));
  const toError = (problems: readonly RegistryProblem[]): RouterError =>
    new RouterError('invalid_request', problems.map((problem) => `${name}: ${formatProblem(problem)}`).join('\n'));
  const problemAt = (path: readonly PropertyKey[], message: string): RegistryProblem => {
    const line = findLine(document, path, lines);
    const field = path.map(String).join('.');
    return { ...(field !== '' && { field }), ...(line !== undefined && { line }), message };
  };
  if (document.errors.length > 0) {
    throw toError(
      document.errors.slice(0, maxProblems).map(({ message, linePos }) => {
        const line = linePos?.[0].line;
        const [problem = ''] = message.split('\n');
        const sentence = problem.replace(/ at line \d+, column \d+:?$/, '');
        return line === undefined ? { message: sentence } : { line, message: sentence };
      }),
    );
  }
  const content = readOrRefuse(name, () => toPlainValue(document));
  const unnameable = findProtoFields(content);
  if (unnameable.length > 0) throw toError(unnameable.map((path) => problemAt(path, protoFieldMessage)));
  const { data, error } = accessSchema.safeParse(withoutExtensions(content), { error: describeIssue });
  if (!error) return { access: data, createError: (path, message) => toError([problemAt(path, message)]) };
  const problems = error.issues.map((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? [issue.keys[0] ?? ''] : [];
    return problemAt([...issue.path, ...unknown], unknown.length > 0 ? 'there is no such field' : issue.message);
  });
  throw toError(problems.slice(0, maxProblems));
}

/** Removes top-level fields named `x-…`. They only hold values for the rest of the file, such as the targets of aliases. */
function withoutExtensions(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  return Object.fromEntries(Object.entries(content).filter(([name]) => !name.startsWith('x-')));
}

/**
 * Runs a parser and converts its errors into a RouterError. The parser fails, for instance, if aliases expand to too many values or contain
 * themselves, or if the text is nested too deeply.
 */
function readOrRefuse<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new RouterError('invalid_request', `${name} cannot be read: ${message}.`, { cause });
  }
}

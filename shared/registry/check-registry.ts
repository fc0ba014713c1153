import { LineCounter, parseDocument, stringify, type Document, type YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { isJsonObject } from '#shared/core/json.ts';
import { editableSections, maxRegistryBytes, explainNotEditable } from './editable-sections.ts';
import { findLine, type RegistryProblem } from './registry-problem.ts';
import { protoFieldMessage, toPlainValue, findProtoFields } from './plain-value.ts';
import { registrySchema } from './registry.ts';

/** A proposed registry: the text of a file, or its content as JSON. */
export type RegistryInput = { text: string } | { config: Readonly<Record<string, unknown>> };

/** A valid registry, as text and parsed; or the problems of an invalid registry. */
export type CheckedRegistry = { text: string; config: Record<string, unknown> } | { problems: RegistryProblem[] };

const editableNames: readonly string[] = editableSections;
const allSections: readonly string[] = Object.keys(registrySchema.shape);

/** Maximum problems to return. */
const maxProblems = 50;

/**
 * Checks a registry that is edited at run time, by the same rules as a file. The largest registry takes a second, so a process with other
 * work should call `checkInThread`.
 */
export function checkRegistry(input: RegistryInput): CheckedRegistry {
  const text = 'text' in input ? input.text : stringify(input.config);
  if (Buffer.byteLength(text) > maxRegistryBytes) return createSizeProblem('the text');
  try {
    return checkText(text);
  } catch (error) {
    // Aliases may expand to too much text, or the nesting may be too deep for the parser.
    const message = error instanceof Error ? error.message : String(error);
    return { problems: [{ message: `the text cannot be read: ${message}` }] };
  }
}

function checkText(text: string): CheckedRegistry {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) return { problems: document.errors.slice(0, maxProblems).map(toSyntaxProblem) };
  // The JSON values are checked, because the JSON values are stored.
  const content = toPlainValue(document);
  const protoFieldMistakes = findProtoFields(content).map((path): Mistake => ({ path, message: protoFieldMessage }));
  const problems = [...findFileOnlySections(content), ...protoFieldMistakes, ...findMistakes(content)].map(
    ({ path, message }) => toProblem(document, lines, path, message),
  );
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  if (problems.length > 0) return { problems: problems.slice(0, maxProblems) };
  const config = content as Record<string, unknown>;
  if (Buffer.byteLength(JSON.stringify(config)) > maxRegistryBytes)
    return createSizeProblem('what its aliases stand for');
  return { text, config };
}

interface Mistake {
  path: readonly PropertyKey[];
  message: string;
}

/** Finds the sections that are allowed only in a file. */
function findFileOnlySections(content: unknown): Mistake[] {
  if (!isJsonObject(content)) return [];
  const fileOnly = Object.keys(content).filter(
    (section) => allSections.includes(section) && !editableNames.includes(section),
  );
  return fileOnly.map((section) => ({ path: [section], message: explainNotEditable(section) }));
}

function findMistakes(content: unknown): Mistake[] {
  const { error } = registrySchema.safeParse(content);
  return (error?.issues ?? []).filter(({ path: [section] }) => !isFileOnly(section)).map(toMistake);
}

function isFileOnly(section: PropertyKey | undefined): boolean {
  return typeof section === 'string' && !editableNames.includes(section);
}

/** Converts an issue of the schema to a mistake. For an unknown field, the path names the field itself, not its parent. */
function toMistake(issue: z.core.$ZodIssue): Mistake {
  const { message } = issue;
  return { path: issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path, message };
}

function toProblem(
  document: Document,
  lines: LineCounter,
  path: readonly PropertyKey[],
  message: string,
): RegistryProblem {
  const field = path.map(String).join('.');
  const line = findLine(document, path, lines);
  return { ...(field !== '' && { field }), ...(line !== undefined && { line }), message };
}

/** Keeps only the first line of the parser's message, because the other lines quote the text. */
function toSyntaxProblem({ message, linePos }: YAMLParseError): RegistryProblem {
  const [problem = ''] = message.split('\n');
  const line = linePos?.[0].line;
  return { ...(line !== undefined && { line }), message: problem.replace(/ at line \d+, column \d+:?$/, '') };
}

function createSizeProblem(subject: string): CheckedRegistry {
  return { problems: [{ message: `${subject} is larger than ${maxRegistryBytes / 1024} KiB` }] };
}

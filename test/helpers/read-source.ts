import { readFileSync } from 'node:fs';
import { parseSync } from 'vite';

/** The facts about one source file that the architecture test reads. */
export interface Source {
  /** Its imports and re-exports, types included, as written. */
  imports: string[];
  /** Whether it reads the environment of the process. */
  readsEnvironment: boolean;
}

/** Parses a TypeScript or JavaScript file. */
export function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8');
  const { module, program } = parseSync(file, text);
  const written = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start + 1, moduleRequest.end - 1)),
  ];
  return {
    imports: written,
    readsEnvironment: contains(program, isProcessEnvironment),
  };
}

function isProcessEnvironment(node: Record<string, unknown>): boolean {
  return (
    node['type'] === 'MemberExpression' && nameOf(node['object']) === 'process' && nameOf(node['property']) === 'env'
  );
}

function nameOf(node: unknown): unknown {
  return isNode(node) ? node['name'] : undefined;
}

function contains(node: unknown, matches: (node: Record<string, unknown>) => boolean): boolean {
  if (Array.isArray(node)) return node.some((child) => contains(child, matches));
  return isNode(node) && (matches(node) || Object.values(node).some((child) => contains(child, matches)));
}

function isNode(node: unknown): node is Record<string, unknown> {
  return typeof node === 'object' && node !== null;
}

import { readFileSync } from 'node:fs';
import { parseSync } from 'vite';

/** What the architecture test looks at in one source file. */
export interface Source {
  /** What it imports and re-exports, types included, as written. */
  imports: string[];
  /** Those of them that are there at run time too. */
  loads: string[];
  /** Whether it reads the environment of the process. */
  readsEnvironment: boolean;
}

/** Parses a TypeScript or JavaScript file. */
export function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8');
  const { module, program } = parseSync(file, text);
  const written = [
    ...module.staticImports.map(({ start, moduleRequest }) => ({ start, to: moduleRequest.value })),
    ...module.staticExports.flatMap(({ start, entries }) =>
      entries.flatMap(({ moduleRequest }) => (moduleRequest ? [{ start, to: moduleRequest.value }] : [])),
    ),
    ...module.dynamicImports.map(({ start, moduleRequest }) => ({
      start,
      to: text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
    })),
  ];
  const isType = ({ start }: { start: number }) => /^(import|export) type\b/.test(text.slice(start, start + 20));
  return {
    imports: written.map(({ to }) => to),
    loads: written.filter((each) => !isType(each)).map(({ to }) => to),
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

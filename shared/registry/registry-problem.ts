import { isMap, isPair, isScalar, isSeq, type Document, type LineCounter } from 'yaml';

export interface RegistryProblem {
  /** The field with the mistake, such as `models.fast.targets.0.model`; absent if the mistake is not in one field. */
  field?: string;
  /** The line of the mistake, from 1. */
  line?: number;
  message: string;
}

/** Formats a problem as one sentence that names the line or the field. */
export function formatProblem({ field, line, message }: RegistryProblem): string {
  const place = [...(line === undefined ? [] : [`line ${line}`]), ...(field === undefined ? [] : [field])].join(', ');
  return place === '' ? message : `${place}: ${message}`;
}

/** Finds the line of a field, from 1; for a missing field, the line of the nearest parent. */
export function findLine(document: Document, path: readonly PropertyKey[], lines: LineCounter): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const step of path) {
    const child = stepInto(node, String(step));
    if (child.offset === undefined) break;
    ({ node, offset } = child);
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

function stepInto(node: unknown, step: string): { node: unknown; offset: number | undefined } {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return { node: item, offset: findOffset(item) };
  }
  if (!isMap(node)) return { node: undefined, offset: undefined };
  const pair = node.items.find((each) => isPair(each) && isScalar(each.key) && String(each.key.value) === step);
  return { node: pair?.value, offset: findOffset(pair?.key) };
}

function findOffset(node: unknown): number | undefined {
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return undefined;
  return node.range?.[0];
}

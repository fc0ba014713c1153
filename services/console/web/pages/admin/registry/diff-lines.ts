/** A line of a diff. It is in both texts (`same`), only in the later text (`added`), or only in the earlier text (`removed`). */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** A part of a diff: lines that are shown, or the number of equal lines that are left out. */
export type DiffPart = { lines: DiffLine[] } | { leftOut: number };

/**
 * The table of common lines has at most this many cells, which are 16 MiB. If the texts need more, all lines between the first and the last
 * difference count as changed.
 */
const maxCells = 4_000_000;

/** The number of equal lines that are shown before and after a change. */
const contextLines = 3;

/** Compares two texts line by line, with as few changed lines as possible. */
export function diffLines(earlier: string, later: string): DiffLine[] {
  const [from, to] = [splitLines(earlier), splitLines(later)];
  const shorterLength = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorterLength && from[start] === to[start]) start++;
  let end = 0;
  while (end < shorterLength - start && from.at(-1 - end) === to.at(-1 - end)) end++;
  return [
    ...toDiffLines('same', from.slice(0, start)),
    ...diffByTable(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...toDiffLines('same', from.slice(from.length - end)),
  ];
}

/** Replaces each run of equal lines that are far from any change by the number of these lines. */
export function collapseEqualLines(diff: readonly DiffLine[]): DiffPart[] {
  const isNear = diff.map((_, at) => diff.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(isChange));
  const parts: DiffPart[] = [];
  for (const [at, line] of diff.entries()) {
    const last = parts.at(-1);
    if (isNear[at]) {
      if (last && 'lines' in last) last.lines.push(line);
      else parts.push({ lines: [line] });
    } else if (last && 'leftOut' in last) last.leftOut++;
    else parts.push({ leftOut: 1 });
  }
  return parts;
}

function isChange({ kind }: DiffLine): boolean {
  return kind !== 'same';
}

/** Splits a text into lines. A line break at the end of the text begins no further line. */
function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function toDiffLines(kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }));
}

/** Compares two lists of lines by their longest common subsequence. */
function diffByTable(from: readonly string[], to: readonly string[]): DiffLine[] {
  const width = to.length + 1;
  if (from.length === 0 || to.length === 0 || from.length * width > maxCells)
    return [...toDiffLines('removed', from), ...toDiffLines('added', to)];
  // For each pair of lines, one of each text: the number of lines that the texts have in common from these two on.
  const common = new Uint32Array((from.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = from.length - 1; row >= 0; row--) {
    for (let column = to.length - 1; column >= 0; column--) {
      common[row * width + column] =
        from[row] === to[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const diff: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < from.length || column < to.length) {
    const [left, right] = [from[row], to[column]];
    if (left !== undefined && left === right) {
      diff.push({ kind: 'same', text: left });
      row++;
      column++;
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      diff.push({ kind: 'removed', text: left });
      row++;
    } else {
      diff.push({ kind: 'added', text: right ?? '' });
      column++;
    }
  }
  return diff;
}

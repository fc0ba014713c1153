/** A line of a diff. It is in both texts (`same`), only in the later text (`added`), or only in the earlier text (`removed`). */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** A part of a diff: lines that are shown, or the number of equal lines that are left out. */
export type DiffPart = { lines: DiffLine[] } | { leftOut: number };

/**
 * Maximum number of cells in the table of common lines: 16 MiB, with 4 bytes per cell. If the texts need more cells, all lines between the
 * first and the last difference count as changed.
 */
const maxCells = 4_000_000;

/** Number of equal lines to show before and after a change. */
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

/** Replaces each run of equal lines that is far from any change with the number of its lines. */
export function collapseEqualLines(diff: readonly DiffLine[]): DiffPart[] {
  const isNearChange = diff.map((_, index) =>
    diff.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(isChange),
  );
  const parts: DiffPart[] = [];
  for (const [index, line] of diff.entries()) {
    const last = parts.at(-1);
    if (isNearChange[index]) {
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

/** Splits a text into lines. A line break at the end of the text does not begin another line. */
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
  // For each pair of a line in `from` and a line in `to`: the number of common lines from that pair to the ends.
  const common = new Uint32Array((from.length + 1) * width);
  const readCommon = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = from.length - 1; row >= 0; row--) {
    for (let column = to.length - 1; column >= 0; column--) {
      common[row * width + column] =
        from[row] === to[column]
          ? readCommon(row + 1, column + 1) + 1
          : Math.max(readCommon(row + 1, column), readCommon(row, column + 1));
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
    } else if (
      left !== undefined &&
      (right === undefined || readCommon(row + 1, column) >= readCommon(row, column + 1))
    ) {
      diff.push({ kind: 'removed', text: left });
      row++;
    } else {
      diff.push({ kind: 'added', text: right ?? '' });
      column++;
    }
  }
  return diff;
}

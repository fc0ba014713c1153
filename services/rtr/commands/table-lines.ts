/** Characters that could move a terminal's cursor, end a line or hide text. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Formats rows as lines of a table. A column is as wide as its widest cell. Replaces characters that control a terminal. */
export function toTableLines(cells: readonly (readonly string[])[]): string[] {
  const rows = cells.map((row) => row.map(toPrintable));
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(cell.length, widest[i] ?? 0)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Replaces the characters of a text that control a terminal. */
export function toPrintable(text: string): string {
  return text.replaceAll(unprintable, '\uFFFD');
}

/** Returns the UTC date of a time in milliseconds since 1970, such as `2026-11-21`. */
export function formatDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/**
 * Returns a time such as `2026-11-24 16:05` (UTC), or a dash for undefined.
 * @param time ms since 1970
 */
export function formatMinute(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

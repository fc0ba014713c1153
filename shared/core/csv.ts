export type CsvCell = string | number | undefined;

/** Converts cells to one line of CSV (RFC 4180), with its line break. */
export function toCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(toCsvCell).join(',')}\r\n`;
}

/**
 * Converts one cell. Spreadsheets run text that begins like a formula, and users choose names, so such text gets a leading apostrophe
 * (OWASP, "CSV Injection").
 */
function toCsvCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return cell === undefined ? '' : String(cell);
  const escaped = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n\t]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}

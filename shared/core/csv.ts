export type CsvCell = string | number | undefined;

/** Writes one line of CSV (RFC 4180). */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Writes one cell. Spreadsheets run text that begins like a formula, and users choose names, so such text gets a leading apostrophe
 * (OWASP, "CSV Injection").
 */
function csvCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return cell === undefined ? '' : String(cell);
  const escaped = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n\t]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}

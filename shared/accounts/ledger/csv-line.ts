/** What may stand in a table's cell. */
export type CsvCell = string | number | undefined;

/** One line of CSV (RFC 4180). */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Spreadsheets run what begins like a formula, and names are chosen by users: such a text gets an apostrophe in front
 * (OWASP, "CSV Injection").
 */
function csvCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return cell === undefined ? '' : String(cell);
  const harmless = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n\t]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

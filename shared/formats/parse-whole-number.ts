/** Parses a whole number of a query or a form. Returns undefined for any other value, and for a number outside of the bounds. */
export function parseWholeNumber(value: unknown, min: number, max: number): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : NaN;
  return number >= min && number <= max ? number : undefined;
}

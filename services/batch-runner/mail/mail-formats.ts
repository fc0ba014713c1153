/** Number of characters after which a text is cut off. */
const maxLength = 200;

/** Returns a text as one readable line, without characters that break, hide or reverse text. */
export function toOneLine(text: string): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

export function quote(name: string): string {
  return `“${name}”`;
}

/** Formats a count as `12,345`. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** Formats an amount as `$1,234.50`. */
export function formatDollars(amount: number): string {
  return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/**
 * Formats a time as `2026-11-24 at 13:05 UTC`.
 * @param at in ms since 1970
 */
export function formatInstant(at: number): string {
  const text = new Date(at).toISOString();
  return `${text.slice(0, 10)} at ${text.slice(11, 16)} UTC`;
}

/** A text in quotation marks, cut to a length in UTF-16 units; never within an emoji's surrogate pair. */
export function quote(text: string, maxLength: number): string {
  const trimmed = text.trim();
  if (trimmed.length <= maxLength) return `“${trimmed}”`;
  return `“${trimmed.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}…”`;
}

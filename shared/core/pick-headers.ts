/** The headers of an HTTP message; names in lower case. */
export type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Visible ASCII and spaces, which any server may send in a header. */
const plainText = /^[\x20-\x7e]+$/;

/**
 * Returns the headers that have one of these names and one value of plain text.
 * @param names names in lower case; a name that ends in `*` is a prefix
 */
export function pickHeaders(headers: RawHeaders, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!names.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)))
      continue;
    if (typeof value === 'string' && plainText.test(value)) picked[name] = value;
  }
  return picked;
}

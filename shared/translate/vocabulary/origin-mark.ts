/** What the mark of an upstream begins with. Nothing that an upstream encrypts or signs does: a point is in none of the alphabets of base64. */
const markStart = 'rtr.';

/** What an upstream has encrypted or signed, with the mark of the upstream and its account in front, see `Minted.origin`. */
export function marked(encrypted: string, origin: string): string {
  return `${markStart}${origin}.${encrypted}`;
}

/** Returns it to the upstream as it came from it; undefined for what has the mark of another one. What has none passes. */
export function unmarked(encrypted: string, origin: string | undefined): string | undefined {
  if (!encrypted.startsWith(markStart)) return encrypted;
  const own = marked('', origin ?? '');
  return origin !== undefined && encrypted.startsWith(own) ? encrypted.slice(own.length) : undefined;
}

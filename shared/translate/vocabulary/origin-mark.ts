/** Start of an upstream's mark. No encrypted or signed content begins with it, because no base64 alphabet has a dot. */
const markStart = 'rtr.';

/**
 * Puts the mark of the upstream and its account (see `AnswerContext.origin`) in front of content that the upstream has encrypted or signed.
 */
export function addOriginMark(encrypted: string, origin: string): string {
  return `${markStart}${origin}.${encrypted}`;
}

/**
 * Removes the upstream's own mark; undefined for content with the mark of another upstream. Content without a mark is returned unchanged.
 */
export function removeOriginMark(encrypted: string, origin: string | undefined): string | undefined {
  if (!encrypted.startsWith(markStart)) return encrypted;
  const own = addOriginMark('', origin ?? '');
  return origin !== undefined && encrypted.startsWith(own) ? encrypted.slice(own.length) : undefined;
}

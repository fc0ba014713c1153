/** Start of an upstream's mark. Encrypted or signed content never begins with this text, because no base64 alphabet has a dot. */
const markStart = 'rtr.';

/**
 * Puts the mark of the upstream and its account (see `AnswerContext.origin`) in front of content that the upstream has encrypted or signed.
 */
export function addOriginMark(encrypted: string, origin: string): string {
  return `${markStart}${origin}.${encrypted}`;
}

/**
 * Removes the upstream's own mark from content. Returns undefined for content with the mark of another upstream. Returns content without a
 * mark unchanged.
 */
export function removeOriginMark(encrypted: string, origin: string | undefined): string | undefined {
  if (!encrypted.startsWith(markStart)) return encrypted;
  const ownMark = addOriginMark('', origin ?? '');
  return origin !== undefined && encrypted.startsWith(ownMark) ? encrypted.slice(ownMark.length) : undefined;
}

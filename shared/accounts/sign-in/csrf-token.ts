import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Computes the token that a page of a sign-in session sends with every request that changes something. The token is derived from the id of
 * the session, which no page of another site can read. So the token is bound to the session, and need not be stored. (OWASP Cross-Site
 * Request Forgery Prevention Cheat Sheet, "Signed Double-Submit Cookie")
 */
export function computeCsrfToken(sessionId: string): string {
  return createHmac('sha256', sessionId).update('csrf').digest('base64url');
}

/** Returns whether `token` is the session's token. The check takes the same time for every token of the right length. */
export function isCsrfToken(sessionId: string, token: string): boolean {
  const expected = Buffer.from(computeCsrfToken(sessionId));
  const actual = Buffer.from(token);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns the token that a page of a sign-in session sends with every request that changes something. It is computed from the session's id,
 * which no other page can read, so it is bound to the session and stored nowhere. (OWASP Cross-Site Request Forgery Prevention Cheat Sheet,
 * "Signed Double-Submit Cookie")
 */
export function computeCsrfToken(sessionId: string): string {
  return createHmac('sha256', sessionId).update('csrf').digest('base64url');
}

/** Returns whether `token` is the session's token. Checking a wrong token of the same length takes the same time. */
export function isCsrfToken(sessionId: string, token: string): boolean {
  const right = Buffer.from(computeCsrfToken(sessionId));
  const other = Buffer.from(token);
  return right.length === other.length && timingSafeEqual(right, other);
}

/**
 * Returns the headers of an HTML page. They allow scripts from files, and styles from files and from elements with this nonce.
 * Nothing loads from another host, and no other page may frame this one.
 * @param nonce undefined for a page without style elements
 * @param isSecure whether the request came over TLS; if so, browsers use only TLS for a year
 */
export function createPageHeaders(nonce: string | undefined, isSecure: boolean): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    nonce === undefined ? "style-src 'self'" : `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    vary: 'accept',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    ...(isSecure && { 'strict-transport-security': 'max-age=31536000' }),
  };
}

/**
 * Returns the forms in which the same issuer may be named: the given one and, if it has no path, also the other one of `https://id.example`
 * and `https://id.example/`. Both are the same URL, and providers and registries use the one or the other.
 */
export function issuerForms(issuer: string): [string, ...string[]] {
  const [, origin] = /^(https?:\/\/[^/?#]+)\/?$/.exec(issuer) ?? [];
  if (origin === undefined) return [issuer];
  return [issuer, issuer === origin ? `${origin}/` : origin];
}

export function isSameIssuer(first: string, second: string): boolean {
  return issuerForms(first).includes(second);
}

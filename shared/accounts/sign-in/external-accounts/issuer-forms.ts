/**
 * Returns the forms in which an issuer may be written. The first form is `issuer` itself. An issuer without a path has a second form, which
 * differs in the slash at the end. `https://id.example` and `https://id.example/` are the same URL, and both are in use.
 */
export function listIssuerForms(issuer: string): [string, ...string[]] {
  const [, origin] = /^(https?:\/\/[^/?#]+)\/?$/.exec(issuer) ?? [];
  if (origin === undefined) return [issuer];
  return [issuer, issuer === origin ? `${origin}/` : origin];
}

export function isSameIssuer(first: string, second: string): boolean {
  return listIssuerForms(first).includes(second);
}

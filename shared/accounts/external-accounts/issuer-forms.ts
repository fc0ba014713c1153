/**
 * The forms in which the same issuer is named: itself, and where it has no path also the other one of `https://id.example` and
 * `https://id.example/`. Both are the same URL, and providers and registries have the one or the other.
 */
export function issuerForms(issuer: string): [string, ...string[]] {
  const [, origin] = /^(https?:\/\/[^/?#]+)\/?$/.exec(issuer) ?? [];
  if (origin === undefined) return [issuer];
  return [issuer, issuer === origin ? `${origin}/` : origin];
}

/** Whether two texts name the same issuer. */
export function isSameIssuer(one: string, other: string): boolean {
  return issuerForms(one).includes(other);
}

import { isJsonObject } from '#shared/core/json.ts';
import type { Claims, IssuerRule } from './token-issuer.ts';

/** Returns the first rule that matches the claims of a token; undefined if no rule matches. */
export function findRule(rules: readonly IssuerRule[], claims: Claims): IssuerRule | undefined {
  return rules.find(({ match }) =>
    match.every(([path, patterns]) => {
      const values = toTexts(findClaim(claims, path));
      return patterns.some((pattern) => values.some((value) => matchesGlob(pattern, value)));
    }),
  );
}

/**
 * Returns the claim at a path such as `kubernetes.io.namespace`. Names of claims may contain dots, so the longest existing name at the
 * beginning of the path is used. In this example, the name is `kubernetes.io`, and `namespace` is a claim in it.
 */
export function findClaim(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const name = path.slice(0, dot);
    const inner = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (!isJsonObject(inner)) continue;
    const found = findClaim(inner, path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the texts of a claim that patterns are compared with: the claim itself, or each member of a list. */
function toTexts(claim: unknown): string[] {
  const values: unknown[] = Array.isArray(claim) ? claim : [claim];
  return values.flatMap((value) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : [],
  );
}

/** Returns whether a text matches a pattern. Each `*` in the pattern stands for any characters. Takes time linear in the text's length. */
export function matchesGlob(pattern: string, value: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === value;
  if (value.length < first.length + last.length || !value.startsWith(first) || !value.endsWith(last)) return false;
  let from = first.length;
  const end = value.length - last.length;
  for (const part of rest) {
    const at = value.indexOf(part, from);
    if (at === -1 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

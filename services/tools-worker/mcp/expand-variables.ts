import type { Environment } from '#shared/core/load-config.ts';

const variable = /\$\{(\w+)(?::-([^}]*))?\}/g;

/**
 * Puts variables of the environment in the place of `${NAME}` and `${NAME:-default}`, in all texts of a JSON value, so
 * that a file with secrets in it need not be written.
 * @returns the value, and the names of variables that are neither set nor have a default
 */
export function expandVariables(value: unknown, environment: Environment): { value: unknown; missing: string[] } {
  const missing = new Set<string>();
  const expand = (part: unknown): unknown => {
    if (typeof part === 'string') {
      return part.replace(variable, (_, name: string, fallback: string | undefined) => {
        const found = environment[name] ?? fallback;
        if (found === undefined) missing.add(name);
        return found ?? '';
      });
    }
    if (Array.isArray(part)) return part.map(expand);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, expand(each)]));
  };
  return { value: expand(value), missing: [...missing] };
}

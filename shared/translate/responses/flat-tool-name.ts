import { createHash } from 'node:crypto';

/** Maximum characters of a tool's name that every upstream accepts. */
const maxNameLength = 64;

/**
 * Returns a name for a tool and its namespace, in the characters and the length that every upstream accepts. The same tool has the same
 * name in every request, so that prompt caches stay valid. Different tools have different names.
 */
export function flatToolName(name: string, namespace: string | undefined): string {
  const whole = namespace === undefined || namespace === '' ? name : `${namespace}__${name}`;
  const plain = whole.replaceAll(/[^\w-]/g, '_');
  if (plain === whole && plain.length <= maxNameLength && plain !== '') return plain;
  return distinctToolName(plain, name, namespace);
}

/** Returns a name with a hash of the tool's whole name, for a tool whose flat name is taken or loses characters. */
export function distinctToolName(plain: string, name: string, namespace: string | undefined): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([namespace ?? '', name]))
    .digest('hex')
    .slice(0, 8);
  return `${plain.slice(0, maxNameLength - 9)}_${hash}`;
}

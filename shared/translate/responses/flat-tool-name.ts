import { createHash } from 'node:crypto';

/** Maximum characters of a tool's name at every upstream. */
const maxNameLength = 64;

/**
 * Creates a name for a tool and its namespace, in the characters and the length that every upstream accepts. The same tool has the same
 * name in every request, so that prompt caches stay valid. Different tools have different names.
 */
export function createFlatToolName(name: string, namespace: string | undefined): string {
  const fullName = namespace === undefined || namespace === '' ? name : `${namespace}__${name}`;
  const plainName = fullName.replaceAll(/[^\w-]/g, '_');
  if (plainName === fullName && plainName.length <= maxNameLength && plainName !== '') return plainName;
  return createDistinctToolName(plainName, name, namespace);
}

/** Creates a name with a hash of the whole name, for a tool whose flat name is taken or loses characters. */
export function createDistinctToolName(plainName: string, name: string, namespace: string | undefined): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([namespace ?? '', name]))
    .digest('hex')
    .slice(0, 8);
  return `${plainName.slice(0, maxNameLength - 9)}_${hash}`;
}

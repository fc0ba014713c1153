import { createHash } from 'node:crypto';

/** Maximum characters of a tool's name in OpenAI's formats; the messages format allows more. */
const maxLength = 64;

/** Hexadecimal digits of an appended hash. */
const hashLength = 8;

function isValid(name: string): boolean {
  return /^[\w-]{1,64}$/.test(name);
}

/**
 * Replaces every name by a name that is valid in OpenAI's formats and the messages format. A valid name stays as it is. Invalid characters
 * become `_`. If the result has no letter or digit, is too long, or equals the result of another name, a hash of the name is appended. So a
 * result never depends on the order or the number of the other names.
 * @param names the names, each once
 * @returns the valid names by the original names
 */
export function assignValidNames(names: readonly string[]): Map<string, string> {
  const readableNames = new Map(names.map((name) => [name, name.replaceAll(/[^\w-]/g, '_')]));
  const namesByReadable = Map.groupBy(readableNames.values(), (name) => name);
  const validNames = [...readableNames].map(([name, readable]): [string, string] => {
    if (isValid(name)) return [name, name];
    const isUsable = isValid(readable) && /[a-z\d]/i.test(readable) && namesByReadable.get(readable)?.length === 1;
    return [name, isUsable ? readable : appendHash(name, readable)];
  });
  return new Map(validNames);
}

function appendHash(name: string, readable: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashLength);
  return `${readable.slice(0, maxLength - hashLength - 1)}_${hash}`;
}

/**
 * Returns the prefix of the names of an MCP server's tools. Tools of MCP account links always have this prefix; other tools have it only if
 * their names would not be unique.
 */
export function createToolPrefix(server: string): string {
  return `${server.replaceAll(/[^\w-]/g, '-')}_`;
}

import { createHash } from 'node:crypto';

/** Characters of a tool's name at most, in OpenAI's formats; the messages format allows more. */
const maxLength = 64;

const hashLength = 8;

/** Whether a name is valid in OpenAI's formats and in the messages format. */
function isValid(name: string): boolean {
  return /^[\w-]{1,64}$/.test(name);
}

/**
 * Gives every name a form that OpenAI's formats and the messages format take. A valid name keeps it. Characters that are not valid
 * become `_`. Where that leaves nothing to read, is too long, or is the name of another tool, a hash of the name ends it: no name
 * ever stands for another tool because of the order or the number of the others.
 * @param names each once
 */
export function validNames(names: readonly string[]): Map<string, string> {
  const wanted = new Map(names.map((name) => [name, name.replaceAll(/[^\w-]/g, '_')]));
  const users = Map.groupBy(wanted.values(), (name) => name);
  const chosen = [...wanted].map(([name, readable]): [string, string] => {
    if (isValid(name)) return [name, name];
    const isClear = isValid(readable) && /[a-z\d]/i.test(readable) && users.get(readable)?.length === 1;
    return [name, isClear ? readable : withHash(name, readable)];
  });
  return new Map(chosen);
}

function withHash(name: string, readable: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashLength);
  return `${readable.slice(0, maxLength - hashLength - 1)}_${hash}`;
}

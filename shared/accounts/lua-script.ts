import { readFileSync } from 'node:fs';

/** The text of `lua/<name>.lua`, one atomic operation. */
export function luaScript(name: string): string {
  return readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8');
}

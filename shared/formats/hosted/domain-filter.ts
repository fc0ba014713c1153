import { domainToASCII } from 'node:url';
import type { Json } from '#shared/core/json.ts';

/**
 * Creates the filter of web addresses for the domain lists of a hosted tool. The entry `example.com` covers the host and its subdomains;
 * `example.com/blog` covers the path and all paths below it. A path may contain one `*`, which stands for any text.
 * @returns undefined if neither list has an entry
 */
export function createDomainFilter(
  allowed: Json | undefined,
  blocked: Json | undefined,
): ((url: string) => boolean) | undefined {
  const [allowedEntries, blockedEntries] = [readEntries(allowed), readEntries(blocked)];
  if (allowedEntries.length === 0 && blockedEntries.length === 0) return undefined;
  return (url) => {
    const address = URL.parse(url);
    if (!address) return false;
    const isIn = (entries: readonly string[]): boolean => entries.some((entry) => covers(entry, address));
    return (allowedEntries.length === 0 || isIn(allowedEntries)) && !isIn(blockedEntries);
  };
}

function readEntries(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.filter((entry): entry is string => typeof entry === 'string' && entry !== '') : [];
}

function covers(entry: string, { hostname, pathname }: URL): boolean {
  const [name = '', ...path] = entry
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split('/');
  const host = domainToASCII(name);
  // A host name with a dot at its end names the same host.
  const hostToTest = hostname.replace(/\.$/, '');
  const isBelow = host !== '' && (hostToTest === host || hostToTest.endsWith(`.${host}`));
  return isBelow && isPathBelow(pathname.toLowerCase(), path.join('/').replace(/\/$/, ''));
}

function isPathBelow(path: string, entryPath: string): boolean {
  if (entryPath === '') return true;
  const star = entryPath.indexOf('*');
  const [start, rest] = star === -1 ? [entryPath, ''] : [entryPath.slice(0, star), entryPath.slice(star + 1)];
  if (!path.startsWith(`/${start}`)) return false;
  const isSegmentEnd = (end: number): boolean => end === path.length || path[end] === '/';
  const from = start.length + 1;
  if (star === -1) return isSegmentEnd(from);
  if (rest === '') return true;
  for (let at = path.indexOf(rest, from); at !== -1; at = path.indexOf(rest, at + 1))
    if (isSegmentEnd(at + rest.length)) return true;
  return false;
}

import type { Json } from '#shared/core/json.ts';

/**
 * Whether pages of an address may be used, by the lists of a hosted tool: `example.com` stands for that host and all below it,
 * `example.com/blog` for the paths below that one.
 * @returns undefined if neither list has an entry
 */
export function domainFilter(
  allowed: Json | undefined,
  blocked: Json | undefined,
): ((url: string) => boolean) | undefined {
  const [allows, blocks] = [entriesOf(allowed), entriesOf(blocked)];
  if (allows.length === 0 && blocks.length === 0) return undefined;
  return (url) => {
    const address = URL.parse(url);
    if (!address) return false;
    const isIn = (entries: readonly string[]): boolean => entries.some((entry) => covers(entry, address));
    return (allows.length === 0 || isIn(allows)) && !isIn(blocks);
  };
}

function entriesOf(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.filter((entry): entry is string => typeof entry === 'string' && entry !== '') : [];
}

function covers(entry: string, { hostname, pathname }: URL): boolean {
  const [host = '', ...path] = entry
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split('/');
  const isBelow = hostname === host || hostname.endsWith(`.${host}`);
  const wanted = path.join('/');
  return isBelow && (wanted === '' || pathname.toLowerCase().startsWith(`/${wanted}`));
}

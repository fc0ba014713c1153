import { domainToASCII } from 'node:url';
import { RouterError } from '#shared/core/errors.ts';
import { type Json, isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Maximum of entries of a list, each of which is compared with each result. */
const maxEntries = 1_000;

/** The web addresses that an entry of a domain list covers. */
interface CoveredAddresses {
  host: string;
  /** Undefined for every port. */
  port: string | undefined;
  /** Without the first and the last slash; '' for every path. */
  path: string;
}

/**
 * Creates the filter of web addresses for the domain lists of a hosted tool. The entry `example.com` covers the host and its subdomains;
 * `example.com:8080` covers one port; `example.com/blog` covers the path and all paths below it. A path may contain one `*`, which stands
 * for any text.
 * @returns undefined if neither list has an entry
 * @throws RouterError `invalid_request` for an entry without a domain, because a list that covers nothing would block nothing, and for too
 * many entries
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
    const isIn = (entries: readonly CoveredAddresses[]): boolean => entries.some((entry) => covers(entry, address));
    return (allowedEntries.length === 0 || isIn(allowedEntries)) && !isIn(blockedEntries);
  };
}

function readEntries(list: Json | undefined): CoveredAddresses[] {
  const entries = Array.isArray(list) ? list : [];
  if (entries.length > maxEntries)
    throw new RouterError('invalid_request', `A domain list has more than ${maxEntries} entries.`);
  return entries.flatMap((entry) => (typeof entry === 'string' && entry !== '' ? [parseEntry(entry)] : []));
}

function parseEntry(entry: string): CoveredAddresses {
  const [authority = '', ...path] = entry
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split('/');
  const [, name = '', port] = /^(?:\*?\.)?(.*?)\.?(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const host = domainToASCII(name);
  if (host === '')
    throw new RouterError('invalid_request', `The entry '${entry.slice(0, 100)}' of a domain list is not a domain.`);
  return { host, port: port === undefined ? undefined : String(Number(port)), path: path.join('/').replace(/\/$/, '') };
}

function covers({ host, port, path }: CoveredAddresses, address: URL): boolean {
  // A host name with a dot at its end names the same host.
  const addressHost = address.hostname.replace(/\.$/, '');
  const addressPort = address.port || (address.protocol === 'https:' ? '443' : '80');
  const isHostCovered = addressHost === host || addressHost.endsWith(`.${host}`);
  return isHostCovered && (port ?? addressPort) === addressPort && isPathBelow(address.pathname.toLowerCase(), path);
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

const placeFields = ['city', 'country', 'region', 'timezone'];

/**
 * Returns the fields of a search or fetch tool that the served tool may accept as input. Their names are `allowed_domains` and
 * `blocked_domains`, and for the user's place `user_location`, `city`, `country`, `region` and `timezone`.
 */
export function pickToolHints(tool: JsonObject): JsonObject {
  const { allowed_domains: allowed, blocked_domains: blocked, user_location: location } = tool;
  const place = isJsonObject(location) ? location : {};
  return {
    ...(hasEntries(allowed) && { allowed_domains: allowed }),
    ...(hasEntries(blocked) && { blocked_domains: blocked }),
    ...(isJsonObject(location) && { user_location: location }),
    ...Object.fromEntries(
      placeFields.flatMap((field) => (typeof place[field] === 'string' ? [[field, place[field]]] : [])),
    ),
  };
}

function hasEntries(list: Json | undefined): list is Json[] {
  return Array.isArray(list) && list.length > 0;
}

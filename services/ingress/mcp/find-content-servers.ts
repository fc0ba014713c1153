/** The addresses that an MCP server lists, as far as its lists are known. */
export interface ListedAddresses {
  server: string;
  resources: readonly string[];
  templates: readonly string[];
}

/** Maximum servers that are asked for one address. */
const maxServers = 4;

/** Returns whether a server lists exactly this address, as a resource or as a template. */
export function listsAddress({ resources, templates }: Omit<ListedAddresses, 'server'>, uri: string): boolean {
  return resources.includes(uri) || templates.includes(uri);
}

/**
 * Returns the servers to ask for an address: at most four, in the order in which to ask them. If servers list the address, they are
 * returned. Otherwise, the servers with the template that has the longest beginning in common with the address are returned. If no template
 * fits, any servers are returned, because a server may have addresses that it does not list, such as addresses in answers of tools. Servers
 * that list addresses of the same scheme then come first.
 */
export function findContentServers(uri: string, servers: readonly ListedAddresses[]): string[] {
  const listing = servers.filter((each) => listsAddress(each, uri));
  if (listing.length > 0) return takeNames(listing);
  const lengths = servers.map(({ templates }) => Math.max(0, ...templates.map((each) => countCommonStart(each, uri))));
  const longest = Math.max(0, ...lengths);
  if (longest > 0) return takeNames(servers.filter((_, at) => lengths[at] === longest));
  const scheme = uri.slice(0, uri.indexOf(':') + 1);
  const [likely, others] = [true, false].map((isLikely) =>
    servers.filter((each) => hasScheme(each, scheme) === isLikely),
  ) as [ListedAddresses[], ListedAddresses[]];
  return takeNames([...likely, ...others]);
}

/**
 * Returns the length of a template up to its first variable if the address begins with that text, otherwise 0. The rest of the template is
 * not compared, because a worker could announce a template that takes very long to compare.
 */
function countCommonStart(template: string, uri: string): number {
  const [start = ''] = template.split('{', 1);
  return start.length < template.length && uri.startsWith(start) ? start.length : 0;
}

function hasScheme({ resources, templates }: ListedAddresses, scheme: string): boolean {
  return scheme !== '' && [...resources, ...templates].some((address) => address.startsWith(scheme));
}

function takeNames(servers: readonly ListedAddresses[]): string[] {
  return servers.slice(0, maxServers).map(({ server }) => server);
}

/** The addresses that an MCP server lists, as far as its lists are known. */
export interface ListedAddresses {
  server: string;
  resources: readonly string[];
  templates: readonly string[];
}

/** Maximum servers that are asked for one address. */
const maxServers = 4;

/** Whether a server lists the address itself, of a resource or of a template. */
export function listsAddress({ resources, templates }: Omit<ListedAddresses, 'server'>, uri: string): boolean {
  return resources.includes(uri) || templates.includes(uri);
}

/**
 * Returns the servers to ask for an address, in this order, at most four. They are the servers that list the address; if there are none,
 * the servers with the template that has the longest beginning in common with it. Servers may have addresses that they do not list, such as
 * those in answers of tools: an address that nothing fits is asked of some servers, those that list addresses of its scheme first.
 */
export function findContentServers(uri: string, servers: readonly ListedAddresses[]): string[] {
  const listing = servers.filter((each) => listsAddress(each, uri));
  if (listing.length > 0) return namesOf(listing);
  const lengths = servers.map(({ templates }) => Math.max(0, ...templates.map((each) => countCommonStart(each, uri))));
  const longest = Math.max(0, ...lengths);
  if (longest > 0) return namesOf(servers.filter((_, at) => lengths[at] === longest));
  const scheme = uri.slice(0, uri.indexOf(':') + 1);
  const [likely, others] = [true, false].map((isLikely) =>
    servers.filter((each) => hasScheme(each, scheme) === isLikely),
  ) as [ListedAddresses[], ListedAddresses[]];
  return namesOf([...likely, ...others]);
}

/**
 * Returns the length of a template's beginning before its first variable if the address begins with it, else 0. The rest of a template is
 * not compared, because a worker could announce one that takes for ever to compare.
 */
function countCommonStart(template: string, uri: string): number {
  const [start = ''] = template.split('{', 1);
  return start.length < template.length && uri.startsWith(start) ? start.length : 0;
}

function hasScheme({ resources, templates }: ListedAddresses, scheme: string): boolean {
  return scheme !== '' && [...resources, ...templates].some((address) => address.startsWith(scheme));
}

function namesOf(servers: readonly ListedAddresses[]): string[] {
  return servers.slice(0, maxServers).map(({ server }) => server);
}

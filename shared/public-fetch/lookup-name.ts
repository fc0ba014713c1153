import { promises, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { callbackify } from 'node:util';
import pLimit from 'p-limit';

/** Milliseconds that a name server has to answer, before it is asked a second time. */
const serverTimeoutMs = 700;

const maxTries = 2;

/** Errors which mean that the name servers do not have the name, or that there is no name server. */
const unknownCodes: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ECONNREFUSED']);

/**
 * Asks the system's resolver for one name at a time. A process can resolve only two names at once with it, each for as long as a name
 * server is silent. The process's connections to other components need this resolver, too.
 */
const limitSystemLookups = pLimit(1);

/** Resolves a host name to all of its addresses. */
export type LookupName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Creates a function that asks the name servers for the addresses of a host. A silent name server delays no lookup of a host with other
 * name servers. If the name servers do not have the name, the function asks the system's resolver, which has further names, such as the
 * names in a hosts file.
 * @param servers addresses of name servers; default: the name servers of the system, read for each lookup
 */
export function createNameLookup(servers?: readonly string[]): LookupName {
  return callbackify((hostname: string, options: LookupAllOptions) => lookupName(hostname, options, servers));
}

async function lookupName(
  hostname: string,
  options: LookupAllOptions,
  servers: readonly string[] | undefined,
): Promise<LookupAddress[]> {
  const resolver = new promises.Resolver({ timeout: serverTimeoutMs, tries: maxTries });
  if (servers) resolver.setServers(servers);
  const [v4, v6] = await Promise.allSettled([
    options.family === 6 ? [] : resolver.resolve4(hostname),
    options.family === 4 ? [] : resolver.resolve6(hostname),
  ]);
  const addresses = [
    ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length > 0) return addresses;
  for (const outcome of [v4, v6]) {
    if (outcome.status === 'rejected' && !unknownCodes.has((outcome.reason as NodeJS.ErrnoException).code))
      throw outcome.reason;
  }
  return limitSystemLookups(() => promises.lookup(hostname, options));
}

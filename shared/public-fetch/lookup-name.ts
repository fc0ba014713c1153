import { promises, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { callbackify } from 'node:util';
import pLimit from 'p-limit';

/** Milliseconds that a name server has to answer, before it is asked a second time. */
const serverTimeoutMs = 700;

const maxTries = 2;

/** The errors of a name that the name servers do not know, or cannot be asked about. */
const unknownCodes: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ECONNREFUSED']);

/**
 * The system's resolver is asked for one name at a time. It works on two names at once in a process, for as long as a name server may be
 * silent, and a connection of this process to another component needs it, too.
 */
const limitSystemLookups = pLimit(1);

/** Resolves a host name to all of its addresses. */
export type LookupName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Creates a function that asks the name servers for the addresses of a host, so that hosts whose name servers are silent delay no lookup of
 * other hosts. If the name servers do not know the name, the system's resolver is asked, which knows more, such as the names in a file of
 * hosts.
 * @param servers addresses of name servers; default: those of the system, read for each lookup
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

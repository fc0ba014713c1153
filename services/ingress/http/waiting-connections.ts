import type { RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { toSiteNetwork } from '#shared/accounts/sign-in/address-groups.ts';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';
import { createNetworkCheck } from '#shared/public-fetch/networks.ts';
import { isHopCount } from './trusted-proxies.ts';

/** Bytes of memory of a connection with the beginning of a request: the head has at most 16 KiB, but may be many short headers. */
const connectionBytes = 64 * 1024;

/** The connections may together use the memory limit divided by this number. */
const memoryDivisor = 4;

/** Returns the most connections that may wait for a request: as many as fit into a quarter of the memory, and at most 20,000. */
export function computeMaxWaitingConnections(memoryBytes: number): number {
  return Math.min(20_000, Math.floor(computeMemoryShare(memoryDivisor, memoryBytes) / connectionBytes));
}

/** Creates the check whether connections from an address count. Those from proxies in front do not, see `TRUSTED_PROXIES`. */
export function createPeerCheck(proxies: readonly string[]): (address: string) => boolean {
  // With a number of hops, each peer is a proxy.
  if (isHopCount(proxies[0])) return () => false;
  const isProxy = createNetworkCheck(proxies);
  return (address) => !isProxy(address);
}

const clientNetwork = Symbol('network of the client');

/** A connection of a client. */
export interface ClientConnection extends Duplex {
  readonly remoteAddress?: string | undefined;
  /** Undefined if the connection does not count. */
  [clientNetwork]?: string;
}

/**
 * Bounds the connections that wait for a request: new ones, those on which the head of a request is incomplete, and those kept alive. Also
 * bounds those that are relayed to NATS. A network may have all places that nobody else wants, because it may stand for many clients. When all places are taken, a new connection
 * ends the one that has waited for longest of the network with the most, so that a network with fewer loses none. Connections from proxies
 * in front do not count, because each has those of many clients.
 */
export class WaitingConnections {
  readonly #max: number;
  readonly #isCounted: (address: string) => boolean;
  /** The waiting connections by network, those that have waited for longest first. Contains only networks that have one. */
  readonly #byNetwork = new Map<string, Set<ClientConnection>>();
  #count = 0;

  /** @param isCounted returns whether connections from an address count */
  constructor(max: number, isCounted: (address: string) => boolean) {
    this.#max = max;
    this.#isCounted = isCounted;
  }

  /** Begins to count a new connection. */
  readonly open = (connection: ClientConnection): void => {
    const { remoteAddress = '' } = connection;
    if (!this.#isCounted(remoteAddress)) return;
    const network = toSiteNetwork(remoteAddress);
    connection[clientNetwork] = network;
    connection.once('close', () => this.#remove(connection, network));
    this.#add(connection, network);
  };

  /** Ends the counting of a connection. */
  release(connection: ClientConnection): void {
    const { [clientNetwork]: network } = connection;
    if (network !== undefined) this.#remove(connection, network);
  }

  /** Wraps a listener. The connection of a request does not wait until the answer is complete. */
  wrap(serve: RequestListener): RequestListener {
    return (request, response) => {
      const connection: ClientConnection = request.socket;
      const { [clientNetwork]: network } = connection;
      if (network !== undefined) {
        this.#remove(connection, network);
        response.once('close', () => {
          if (!connection.destroyed) this.#add(connection, network);
        });
      }
      serve(request, response);
    };
  }

  #add(connection: ClientConnection, network: string): void {
    if (this.#count >= this.#max) this.#endOldestOfLargest(network);
    const ofNetwork = this.#byNetwork.get(network) ?? new Set();
    this.#byNetwork.set(network, ofNetwork);
    ofNetwork.add(connection);
    this.#count += 1;
  }

  #remove(connection: ClientConnection, network: string): void {
    const ofNetwork = this.#byNetwork.get(network);
    if (!ofNetwork?.delete(connection)) return;
    this.#count -= 1;
    if (ofNetwork.size === 0) this.#byNetwork.delete(network);
  }

  /** @param network the network of the new connection, which loses one of its own if no other network has more */
  #endOldestOfLargest(network: string): void {
    let largest = network;
    let connections = this.#byNetwork.get(network);
    for (const [each, ofNetwork] of this.#byNetwork)
      if (ofNetwork.size > (connections?.size ?? 0)) [largest, connections] = [each, ofNetwork];
    const [oldest] = connections ?? [];
    if (!oldest) return;
    this.#remove(oldest, largest);
    oldest.destroy();
  }
}

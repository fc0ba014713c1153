import type { Role } from '#shared/broker/connection/credential.ts';
import { ownCredentialFile } from '#shared/broker/authority/own-credentials.ts';
import { defaultHost, defaultPort, type ClusterConfig } from '../config.ts';
import {
  credentialsFolder,
  needsCredential,
  readClusterState,
  toLocalNatsUrl,
  toLocalRedisUrl,
} from './cluster-state.ts';
import { isLoopback } from '#shared/core/own-addresses.ts';
import { findOwnCommand } from '../client/lib/own-command.mjs';
import { UpError } from './up-error.ts';

export type ClusterAddress = 'NATS_URL' | 'REDIS_URL';

/** Addresses of servers, and the file with the credential for NATS if there is one. */
export type ClusterAddresses<Needed extends ClusterAddress> = Record<Needed, string> & {
  NATS_CREDENTIALS?: string | undefined;
};

/**
 * Returns the addresses of the cluster's servers: from the settings, otherwise from the servers that `rtr up` runs from this folder. With
 * the NATS of this folder, the credential is the cluster's own for the role, unless the settings contain one.
 * @throws UpError if an address is in neither
 */
export function findClusterAddresses<Needed extends ClusterAddress>(
  config: Pick<ClusterConfig, ClusterAddress> & Partial<Pick<ClusterConfig, 'NATS_CREDENTIALS'>>,
  folder: string,
  needed: readonly Needed[],
  role: Role,
): ClusterAddresses<Needed> {
  const state = readClusterState(folder);
  const local: Record<ClusterAddress, string | undefined> = {
    NATS_URL: state?.ports.nats ? toLocalNatsUrl(state, state.ports.nats) : undefined,
    REDIS_URL: state?.ports.redis ? toLocalRedisUrl(state, state.ports.redis) : undefined,
  };
  const addresses = needed.map((name) => [name, config[name] ?? local[name]] as const);
  const missing = addresses.filter(([, url]) => url === undefined).map(([name]) => name);
  if (missing.length > 0)
    throw new UpError(
      `There is no cluster here: set ${missing.join(' and ')}, or start one with ${findOwnCommand()} up.`,
    );
  const isOwnNats = config.NATS_URL === undefined && state !== undefined && needsCredential(state);
  const ownCredential = isOwnNats ? ownCredentialFile(credentialsFolder(folder), role) : undefined;
  return {
    ...(Object.fromEntries(addresses) as Record<Needed, string>),
    NATS_CREDENTIALS: config.NATS_CREDENTIALS ?? ownCredential,
  };
}

export interface RouterSettings {
  HOST?: string | undefined;
  PORT?: number | undefined;
  PUBLIC_URL?: string | undefined;
}

/**
 * Returns the address of this machine's router: from the settings, otherwise the address with which the cluster of this folder was started,
 * otherwise the default address.
 * @returns the router's address, such as `http://127.0.0.1:8484`, and the address at which browsers reach it
 */
export function findOwnRouter(
  { HOST, PORT, PUBLIC_URL }: RouterSettings,
  folder: string,
): { url: string; publicUrl: string } {
  const started = HOST === undefined || PORT === undefined ? readClusterState(folder)?.router : undefined;
  const url = toLocalUrl({ HOST: HOST ?? started?.host ?? defaultHost, PORT: PORT ?? started?.port ?? defaultPort });
  const isAsStarted = HOST === undefined && PORT === undefined;
  return { url, publicUrl: PUBLIC_URL ?? (isAsStarted ? started?.publicUrl : undefined) ?? url };
}

/**
 * Returns the router's address with which the cluster of this folder was started, even if the settings have changed since. Returns
 * undefined if no cluster was started.
 */
export function findStartedRouter(folder: string): string | undefined {
  const started = readClusterState(folder)?.router;
  return started && toLocalUrl({ HOST: started.host, PORT: started.port });
}

/** Whether two addresses belong to the same router. Paths are ignored, and all names of the loopback interface count as equal. */
export function isSameRouter(url: string, otherUrl: string): boolean {
  const [first, second] = [url, otherUrl].map((address) => {
    const { protocol, port, hostname } = new URL(address);
    return `${protocol}//${isLoopback(address) ? 'localhost' : hostname}:${port}`;
  });
  return first === second;
}

/** Returns the address at which this machine reaches its own router, such as `http://127.0.0.1:8484`. */
export function toLocalUrl({ HOST, PORT }: { HOST: string; PORT: number }): string {
  return `http://${toReachableHost(HOST)}:${PORT}`;
}

function toReachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

import { rootCertificates } from 'node:tls';
import { jwtAuthenticator, type NodeConnectionOptions } from '@nats-io/transport-node';
import { ConfigError } from '#shared/core/load-config.ts';
import type { Credential } from './credential.ts';

export type Transport = 'tcp' | 'websocket';

const transports: Record<string, Transport> = {
  'nats:': 'tcp',
  'tls:': 'tcp',
  'ws:': 'websocket',
  'wss:': 'websocket',
};

export interface BrokerAccess {
  /**
   * One URL or several, comma separated: `nats://user:password@host:4222`; `tls://` requires TLS, `wss://` is a WebSocket through HTTPS.
   */
  url: string;
  credential?: Credential | undefined;
  /** CA certificates in PEM that may sign the broker's certificate, besides those of the credential. */
  ca?: string | undefined;
}

/**
 * Builds the library's options for a connection that reconnects for ever.
 * @throws ConfigError for an invalid URL
 */
export function connectionOptions(
  { url, credential, ca }: BrokerAccess,
  name: string,
): { transport: Transport; ca: string | undefined; options: NodeConnectionOptions } {
  const addresses = url.split(',');
  const usable = addresses.flatMap((address) => readAddress(address) ?? []);
  const [first] = usable;
  // The URL may contain a password, so it is not repeated.
  if (!first || usable.length < addresses.length)
    throw new ConfigError('the address of NATS is not a URL like nats://127.0.0.1:4222');
  const transport = transportOf(first);
  if (usable.some((each) => transportOf(each) !== transport))
    throw new ConfigError('the addresses of NATS are of different kinds: either all ws(s)://, or none');
  const authorities = [credential?.ca, ca].filter((pem) => pem !== undefined).join('\n') || undefined;
  if (authorities !== undefined && usable.some(({ protocol }) => protocol === 'ws:'))
    throw new ConfigError('the address of NATS is ws://, without TLS, and a certificate for it is given: use wss://');
  return {
    transport,
    ca: authorities,
    options: {
      servers: usable.map((each) => (transport === 'tcp' ? `nats://${each.host}` : each.href)),
      name,
      ...(transport === 'tcp' && tlsOptions(usable, authorities)),
      ...(credential ? credentialOptions(credential) : userOptions(first)),
      reconnect: true,
      maxReconnectAttempts: -1,
      waitOnFirstConnect: false,
      timeout: 5_000,
      pingInterval: 10_000,
      maxPingOut: 2,
      ignoreAuthErrorAbort: true,
      // The broker reports addresses of other nodes, which are behind the load balancer and out of reach.
      ...(transport === 'websocket' && { ignoreClusterUpdates: true }),
    },
  };
}

function tlsOptions(urls: readonly URL[], ca: string | undefined): Pick<NodeConnectionOptions, 'tls'> {
  if (ca !== undefined) return { tls: { ca: [...rootCertificates, ca].join('\n') } };
  return urls.some(({ protocol }) => protocol === 'tls:') ? { tls: {} } : {};
}

function credentialOptions({ jwt, seed, prefix, role, owner }: Credential): Partial<NodeConnectionOptions> {
  return { authenticator: jwtAuthenticator(jwt, seed), inboxPrefix: `${prefix}.inbox.${role}.${owner}` };
}

function userOptions({ username, password }: URL): Partial<NodeConnectionOptions> {
  if (username && password) return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return username ? { token: decodeURIComponent(username) } : {};
}

function readAddress(address: string): URL | undefined {
  const url = URL.parse(address.trim());
  return url && url.protocol in transports && url.host !== '' ? url : undefined;
}

function transportOf({ protocol }: URL): Transport {
  return transports[protocol] ?? 'tcp';
}

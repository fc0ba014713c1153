import { rootCertificates } from 'node:tls';
import { nkeyAuthenticator, type NKeyAuth, type NodeConnectionOptions } from '@nats-io/transport-node';
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
   * One URL such as `nats://user:password@host:4222`, or several, separated by commas. `tls://` requires TLS; `wss://` is a WebSocket
   * through HTTPS.
   */
  url: string;
  credential?: Credential | undefined;
  /** CA certificates in PEM that may sign the broker's certificate, besides the credential's own. */
  ca?: string | undefined;
}

/**
 * Builds the library's options for a connection that reconnects for ever.
 * @param name the name that the NATS server shows for the connection
 * @returns the options, the transport that the URL requires, and the CA certificates to trust besides the public ones
 * @throws ConfigError for an invalid URL
 */
export function buildConnectionOptions(
  { url, credential, ca }: BrokerAccess,
  name: string,
): { transport: Transport; ca: string | undefined; options: NodeConnectionOptions } {
  const addresses = url.split(',');
  const urls = addresses.flatMap((address) => readAddress(address) ?? []);
  const [first] = urls;
  // The URL may contain a password, so it is not repeated.
  if (!first || urls.length < addresses.length)
    throw new ConfigError('the address of NATS is not a URL like nats://127.0.0.1:4222');
  const transport = findTransport(first);
  if (urls.some((each) => findTransport(each) !== transport))
    throw new ConfigError('the addresses of NATS are of different kinds: either all ws(s)://, or none');
  const trustedCa = [credential?.ca, ca].filter((pem) => pem !== undefined).join('\n') || undefined;
  if (trustedCa !== undefined && urls.some(({ protocol }) => protocol === 'ws:'))
    throw new ConfigError('the address of NATS is ws://, without TLS, and a certificate for it is given: use wss://');
  return {
    transport,
    ca: trustedCa,
    options: {
      servers: urls.map((each) => (transport === 'tcp' ? `nats://${each.host}` : each.href)),
      name,
      ...(transport === 'tcp' && buildTlsOptions(urls, trustedCa)),
      ...(credential ? buildCredentialOptions(credential) : buildUserOptions(first)),
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

function buildTlsOptions(urls: readonly URL[], ca: string | undefined): Pick<NodeConnectionOptions, 'tls'> {
  if (ca !== undefined) return { tls: { ca: [...rootCertificates, ca].join('\n') } };
  return urls.some(({ protocol }) => protocol === 'tls:') ? { tls: {} } : {};
}

function buildCredentialOptions({ jwt, seed, prefix, role, name }: Credential): Partial<NodeConnectionOptions> {
  const sign = nkeyAuthenticator(seed);
  return {
    // The library's own authenticator for tokens also sends the public key, which the token contains anyway. After a reload of its
    // configuration, NATS 2.9 looks for this key in the configuration, does not find it, and disconnects the client.
    authenticator: (nonce) => ({ jwt, sig: (sign(nonce) as NKeyAuth).sig }),
    inboxPrefix: `${prefix}.inbox.${role}.${name}`,
  };
}

function buildUserOptions({ username, password }: URL): Partial<NodeConnectionOptions> {
  if (username && password) return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return username ? { token: decodeURIComponent(username) } : {};
}

function readAddress(address: string): URL | undefined {
  const url = URL.parse(address.trim());
  return url && url.protocol in transports && url.host !== '' ? url : undefined;
}

function findTransport({ protocol }: URL): Transport {
  return transports[protocol] ?? 'tcp';
}

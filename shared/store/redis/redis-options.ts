import { rootCertificates } from 'node:tls';
import type { RedisOptions } from 'ioredis';
import { ConfigError } from '#shared/core/load-config.ts';
import './fair-timeouts.ts';

/** Milliseconds that a sentinel has to answer before the next sentinel is asked. */
const sentinelAnswerMs = 1_000;

/** Maximum milliseconds between two rounds of questions to the sentinels. */
const maxPauseMs = 1_000;

/** `redis+sentinel://[user:password@]host:port[,host:port…]/name[/database][?sentinel-password=…]`, with `rediss` for TLS. */
const sentinelAddress =
  /^(?<scheme>rediss?)\+sentinel:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?]+)\/(?<name>[^/?]+)(?:\/(?<database>\d+))?(?:\?(?<query>.*))?$/;

/**
 * Minimum milliseconds between two new connections that are made because the server is a replica. The address may lead to a replica
 * permanently, and each new connection interrupts its reads.
 */
const readOnlyPauseMs = 10_000;

const refusalMessage = 'the address of Redis is not a URL like redis://127.0.0.1:6379';

/** The library's options, without `replyMapping`, which the constructor declares with a narrower type. */
type AddressOptions = Omit<RedisOptions, 'replyMapping'>;

export function isRedisAddress(url: string): boolean {
  if (sentinelAddress.test(url)) return parseSentinelHosts(url) !== undefined;
  const address = URL.parse(url);
  return address !== null && ['redis:', 'rediss:'].includes(address.protocol) && address.host !== '';
}

/** Returns the hosts in a URL of Redis for display, without user and password. */
export function listRedisHosts(url: string): string {
  return sentinelAddress.exec(url)?.groups?.['hosts'] ?? URL.parse(url)?.host ?? '';
}

/**
 * Returns the library's options for a URL of Redis.
 * @param url `redis://[user:password@]host:port[/database]`, `rediss://` for TLS, or, for a primary behind sentinels,
 * `redis+sentinel://[user:password@]host:port,host:port/name[/database][?sentinel-password=…]`
 * @param ca certificate authorities in PEM that are accepted in addition to the public ones
 * @throws ConfigError for any other text; its message does not repeat the text, which may contain a password
 */
export function buildRedisOptions(url: string, ca: string | undefined): AddressOptions {
  // The library would use any text as a host or a socket.
  if (!isRedisAddress(url)) throw new ConfigError(refusalMessage);
  const isEncrypted = url.startsWith('rediss');
  const tls = isEncrypted ? { ca: [...rootCertificates, ...(ca === undefined ? [] : [ca])] } : undefined;
  const groups = sentinelAddress.exec(url)?.groups;
  if (groups)
    return {
      ...buildSentinelOptions(url, groups),
      ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    };
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    ...buildSignInOptions(username, password),
    ...(/^\/\d+$/.test(pathname) && { db: Number(pathname.slice(1)) }),
    ...(tls && { tls }),
    reconnectOnError: createReadOnlyCheck(readOnlyPauseMs),
  };
}

/**
 * Returns a function that tells whether an error calls for a new connection. This is the case if the server has become a replica, because
 * the address may lead to another server by now.
 * @param pauseMs minimum milliseconds between two new connections
 */
function createReadOnlyCheck(pauseMs: number): (error: Error) => boolean {
  let connectedAt = -Infinity;
  return ({ message }) => {
    const now = performance.now();
    if (!message.startsWith('READONLY') || now - connectedAt < pauseMs) return false;
    connectedAt = now;
    return true;
  };
}

function buildSentinelOptions(url: string, groups: Record<string, string | undefined>): AddressOptions {
  const { name = '', user = '', password = '', database = '0', query = '' } = groups;
  const sentinelPassword = new URLSearchParams(query).get('sentinel-password');
  return {
    sentinels: parseSentinelHosts(url) ?? [],
    name: decodeURIComponent(name),
    ...buildSignInOptions(user, password),
    ...(sentinelPassword !== null && { sentinelPassword }),
    db: Number(database),
    sentinelCommandTimeout: sentinelAnswerMs,
    // While no sentinel names a primary, all sentinels are asked again, without end.
    sentinelRetryStrategy: (round) => Math.min(maxPauseMs, 100 * round),
    // Without this, writes to a primary that was cut off from its sentinels would be accepted, and lost later.
    failoverDetector: true,
    // A reconnect asks the sentinels for the primary.
    reconnectOnError: createReadOnlyCheck(0),
  };
}

function parseSentinelHosts(url: string): { host: string; port: number }[] | undefined {
  const hosts = (sentinelAddress.exec(url)?.groups?.['hosts'] ?? '')
    .split(',')
    .map((host) => URL.parse(`redis://${host}`));
  const valid = hosts.flatMap((host) =>
    host && host.hostname !== '' ? [{ host: host.hostname, port: Number(host.port || 26_379) }] : [],
  );
  return valid.length === hosts.length ? valid : undefined;
}

function buildSignInOptions(username: string, password: string): Pick<RedisOptions, 'username' | 'password'> {
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

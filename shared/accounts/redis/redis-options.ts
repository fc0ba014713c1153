import { rootCertificates } from 'node:tls';
import type { RedisOptions } from 'ioredis';
import { ConfigError } from '#shared/core/load-config.ts';
import './fair-timeouts.ts';

/** Milliseconds after a sentinel was asked until the next sentinel is asked, if the first has not answered. */
const sentinelAnswerMs = 1_000;

/** Maximum of milliseconds between two rounds of questions to the sentinels. */
const longestPauseMs = 1_000;

/** `redis+sentinel://[user:password@]host:port[,host:port…]/name[/database][?sentinel-password=…]`, with `rediss` for TLS. */
const sentinelAddress =
  /^(?<scheme>rediss?)\+sentinel:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?]+)\/(?<name>[^/?]+)(?:\/(?<database>\d+))?(?:\?(?<query>.*))?$/;

/**
 * Minimum of milliseconds between two connections to an address because its server is a replica. An address may lead to a replica for good,
 * and its reads are worth keeping.
 */
const readOnlyPauseMs = 10_000;

const refusalMessage = 'the address of Redis is not a URL like redis://127.0.0.1:6379';

/** The library's options, without the option that its constructor declares with a narrower type. */
type AddressOptions = Omit<RedisOptions, 'replyMapping'>;

export function isRedisAddress(url: string): boolean {
  if (sentinelAddress.test(url)) return sentinelHosts(url) !== undefined;
  const address = URL.parse(url);
  return address !== null && ['redis:', 'rediss:'].includes(address.protocol) && address.host !== '';
}

/** Returns the hosts in a URL of Redis, for display, without a password. */
export function redisHosts(url: string): string {
  return sentinelAddress.exec(url)?.groups?.['hosts'] ?? URL.parse(url)?.host ?? '';
}

/**
 * Returns the library's options for a URL of Redis.
 * @param url `redis://[user:password@]host:port[/database]`, `rediss://` for TLS, or, for a primary behind sentinels,
 * `redis+sentinel://[user:password@]host:port,host:port/name[/database][?sentinel-password=…]`
 * @param ca certificates in PEM that may have signed the server's certificate, besides the public certificates
 * @throws ConfigError for any other text; its message does not repeat the text, which may contain a password
 */
export function redisOptions(url: string, ca: string | undefined): AddressOptions {
  // The library would use any text as a host or a socket.
  if (!isRedisAddress(url)) throw new ConfigError(refusalMessage);
  const isEncrypted = url.startsWith('rediss');
  const tls = isEncrypted ? { ca: [...rootCertificates, ...(ca === undefined ? [] : [ca])] } : undefined;
  const groups = sentinelAddress.exec(url)?.groups;
  if (groups)
    return { ...sentinelOptions(url, groups), ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }) };
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    ...signInOptions(username, password),
    ...(/^\/\d+$/.test(pathname) && { db: Number(pathname.slice(1)) }),
    ...(tls && { tls }),
    reconnectOnError: createReadOnlyCheck(readOnlyPauseMs),
  };
}

/**
 * Returns a function that says whether an error calls for a new connection: the server has become a replica, and the address may lead to
 * another server by now.
 * @param pauseMs milliseconds after a new connection until the next one
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

function sentinelOptions(url: string, groups: Record<string, string | undefined>): AddressOptions {
  const { name = '', user = '', password = '', database = '0', query = '' } = groups;
  const sentinelPassword = new URLSearchParams(query).get('sentinel-password');
  return {
    sentinels: sentinelHosts(url) ?? [],
    name: decodeURIComponent(name),
    ...signInOptions(user, password),
    ...(sentinelPassword !== null && { sentinelPassword }),
    db: Number(database),
    sentinelCommandTimeout: sentinelAnswerMs,
    // When no sentinel names a primary, all sentinels are asked again, for ever.
    sentinelRetryStrategy: (round) => Math.min(longestPauseMs, 100 * round),
    // A primary that was cut off from its sentinels may still accept writes, which will be lost.
    failoverDetector: true,
    // A reconnect asks the sentinels for the primary.
    reconnectOnError: createReadOnlyCheck(0),
  };
}

function sentinelHosts(url: string): { host: string; port: number }[] | undefined {
  const hosts = (sentinelAddress.exec(url)?.groups?.['hosts'] ?? '')
    .split(',')
    .map((host) => URL.parse(`redis://${host}`));
  const found = hosts.flatMap((host) =>
    host && host.hostname !== '' ? [{ host: host.hostname, port: Number(host.port || 26_379) }] : [],
  );
  return found.length === hosts.length ? found : undefined;
}

function signInOptions(username: string, password: string): Pick<RedisOptions, 'username' | 'password'> {
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

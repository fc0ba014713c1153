/**
 * Returns whether a text is a number of proxies from 1 to 9. Each of these proxies appends the address that it sees to `X-Forwarded-For`.
 */
export function isHopCount(text = ''): boolean {
  return /^[1-9]$/.test(text);
}

/**
 * Returns the value of `trust proxy` for Express: addresses and networks, or a number of hops counted from the ingress. With a number of
 * hops, no address that a client writes into the header is trusted, whatever network the client is in.
 * @param proxies `TRUSTED_PROXIES`
 */
export function toTrustProxySetting(proxies: readonly string[]): readonly string[] | number {
  const [first] = proxies;
  return isHopCount(first) ? Number(first) : proxies;
}

/** Matches host names that stand for the machine itself, as `URL` writes them. */
const loopbackPattern = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Returns warnings for the operator about `PUBLIC_URL`: it is https, but the ingress itself serves plain HTTP alone and `TRUSTED_PROXIES` is
 * empty; or it has no TLS.
 */
export function findAddressWarnings(config: {
  PUBLIC_URL?: string | undefined;
  TRUSTED_PROXIES: readonly string[];
  TLS_FOLDER?: string | undefined;
}): string[] {
  const address = URL.parse(config.PUBLIC_URL ?? '');
  if (address?.protocol === 'https:' && config.TRUSTED_PROXIES.length === 0 && config.TLS_FOLDER === undefined)
    return [
      'PUBLIC_URL is https, but TRUSTED_PROXIES is empty: cookies lack Secure, and all clients seem to have one address',
    ];
  if (address?.protocol === 'http:' && !loopbackPattern.test(address.hostname))
    return ['PUBLIC_URL has no TLS: passwords, keys and tokens can be read on the way, and programs cannot sign in'];
  return [];
}

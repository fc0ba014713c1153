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

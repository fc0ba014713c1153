/** Whether a text is a number of proxies, each of which has appended the address that it saw to `X-Forwarded-For`. */
export function isHopCount(text = ''): boolean {
  return /^[1-9]$/.test(text);
}

/**
 * What Express trusts: addresses and networks, or a number of hops, counted from the ingress. With hops, no address that a client writes into
 * the header is believed, whatever networks clients are in.
 * @param proxies `TRUSTED_PROXIES`
 */
export function trustedBy(proxies: readonly string[]): readonly string[] | number {
  const [first] = proxies;
  return isHopCount(first) ? Number(first) : proxies;
}

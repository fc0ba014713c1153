import { isIPv6 } from 'node:net';

/**
 * Returns the part of an IP address that counts as one client. That is all of an IPv4 address, and the first 64 bits of an IPv6 address,
 * because a subscriber has at least the other 64 bits to choose from (RFC 6177).
 */
export function toAddressGroup(address: string): string {
  return toNetwork(address, 4);
}

/**
 * Returns the network whose clients together have at most a share of what all clients have. That is all of an IPv4 address, and the first
 * 48 bits of an IPv6 address, because a site may have 65,536 networks of 64 bits (RFC 6177).
 */
export function toSiteNetwork(address: string): string {
  return toNetwork(address, 3);
}

/** @param groups the number of groups of 16 bits that are kept of an IPv6 address */
function toNetwork(address: string, groups: number): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [unscoped = ''] = address.split('%');
  if (!isIPv6(unscoped)) return address;
  const [head = '', tail = ''] = unscoped.toLowerCase().split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  const all = [...front, ...(unscoped.includes('::') ? zeros : []), ...back];
  const kept = all.slice(0, groups).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${kept.join(':')}::/${groups * 16}`;
}

import { isIPv6 } from 'node:net';

/**
 * What of a client's IP address counts as one client: all of an IPv4 address, the first 64 bits of an IPv6 address, since
 * one subscriber has at least that many to choose from (RFC 6177).
 */
export function addressGroup(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [unscoped = ''] = address.split('%');
  if (!isIPv6(unscoped)) return address;
  const [head = '', tail = ''] = unscoped.toLowerCase().split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  const groups = [...front, ...(unscoped.includes('::') ? zeros : []), ...back];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

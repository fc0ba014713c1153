import { BlockList, isIP } from 'node:net';

/**
 * The networks outside the public internet: IANA's special-purpose registries for IPv4 and IPv6 (RFC 6890), multicast, and the IPv6 ranges
 * that embed IPv4 addresses, which would bypass the IPv4 list.
 */
const reservedNetworks = new BlockList();
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's agent for virtual machines, which hands out settings and certificates of the machine.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]) {
  const [address = '', prefix] = network.split('/');
  reservedNetworks.addSubnet(address, Number(prefix), 'ipv4');
}

/** The range of all public IPv6 addresses that are allocated today. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
for (const network of ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']) {
  const [address = '', prefix] = network.split('/');
  reservedNetworks.addSubnet(address, Number(prefix), 'ipv6');
}

/** Whether a text is an IP address of the public internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !reservedNetworks.check(address, 'ipv4');
    case 6:
      return globalUnicast.check(address, 'ipv6') && !reservedNetworks.check(address, 'ipv6');
    default:
      return false;
  }
}

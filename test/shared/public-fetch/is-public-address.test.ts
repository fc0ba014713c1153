import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '#shared/public-fetch/is-public-address.ts';

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '168.63.129.17',
    '172.15.255.255',
    '172.32.0.1',
    '192.169.0.1',
    '2606:4700:4700::1111',
    '2a00:1450::1',
  ])('accepts %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.127.255.254',
    '127.0.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.19.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ])('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    { address: '::1', what: 'loopback' },
    { address: '::', what: 'unspecified' },
    { address: 'fe80::1', what: 'link-local' },
    { address: 'fd00::1', what: 'unique local' },
    { address: 'ff02::1', what: 'multicast' },
    { address: '2001:db8::1', what: 'documentation' },
    { address: '::ffff:127.0.0.1', what: 'IPv4 in IPv6' },
    { address: '::ffff:8.8.8.8', what: 'even public IPv4 in IPv6' },
    { address: '64:ff9b::7f00:1', what: 'NAT64' },
    { address: '2002:7f00:1::', what: '6to4' },
    { address: '2001:0:7f00:1::', what: 'Teredo' },
  ])('refuses $address ($what)', ({ address }) => expect(isPublicAddress(address)).toBe(false));

  it('refuses a name', () => expect(isPublicAddress('localhost')).toBe(false));
});

import { expect, it } from 'vitest';
import { createNetworkCheck, isNetwork } from '#shared/public-fetch/networks.ts';
import { isPublicAddress } from '#shared/public-fetch/is-public-address.ts';

it.each([
  ['accepts networks', true, ['10.0.0.5', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0']],
  ['refuses others', false, ['', 'localhost', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1']],
])('isNetwork %s', (_, expected, texts) => {
  for (const text of texts) expect(isNetwork(text), text).toBe(expected);
});

it('addressesIn finds addresses of its networks, and no others', () => {
  const isIn = createNetworkCheck(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
  expect(['10.1.2.3', '127.0.0.1', 'fd12::1'].map(isIn)).toEqual([true, true, true]);
  expect(['10.2.0.1', '127.0.0.2', 'fe80::1', 'localhost'].map(isIn)).toEqual([false, false, false, false]);
  expect(createNetworkCheck([])('127.0.0.1')).toBe(false);
});

it('isPublicAddress accepts public addresses, also right beside ranges that are not', () => {
  const four = '8.8.8.8 1.1.1.1 168.63.129.17 172.15.255.255 172.32.0.1 192.169.0.1';
  const six = '2606:4700:4700::1111 2a00:1450::1';
  for (const address of `${four} ${six}`.split(' ')) expect(isPublicAddress(address), address).toBe(true);
});

it.each([
  ['of this host', '0.0.0.0 127.0.0.1 127.255.255.255 :: ::1'],
  ['of private networks', '10.1.2.3 100.64.0.1 100.127.255.254 172.16.0.1 172.31.255.255 192.168.1.1 fd00::1'],
  ['of the network beside it', '169.254.169.254 168.63.129.16 fe80::1'],
  ['for special uses', '192.0.0.8 198.19.0.1 224.0.0.1 255.255.255.255 ff02::1 2001:db8::1'],
  ['that stand for one of IPv4', '::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 2002:7f00:1:: 2001:0:7f00:1::'],
  ['that are names', 'localhost'],
])('isPublicAddress refuses addresses %s', (_, addresses) => {
  for (const address of addresses.split(' ')) expect(isPublicAddress(address), address).toBe(false);
});

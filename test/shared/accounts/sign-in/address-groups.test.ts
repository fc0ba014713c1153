import { expect, it } from 'vitest';
import { toAddressGroup, toSiteNetwork } from '#shared/accounts/sign-in/address-groups.ts';

it.each([
  ['192.0.2.7', '192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:DB8:1:2:ffff::1', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['2001:0db8:0000:0000:1::', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['::1', '0:0:0:0::/64', '0:0:0::/48'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
  ['', '', ''],
])('the address %s counts as %s, and in the network %s', (address, group, network) => {
  expect(toAddressGroup(address)).toBe(group);
  expect(toSiteNetwork(address)).toBe(network);
});

import { expect, it } from 'vitest';
import { findAddressWarnings } from '#services/ingress/http/trusted-proxies.ts';

it.each([
  [undefined, [], []],
  ['http://localhost:8484', [], []],
  ['http://127.0.0.1:8484', [], []],
  ['http://[::1]:8484', [], []],
  ['https://router.example.com', ['10.0.0.0/8'], []],
  ['https://router.example.com', [], [expect.stringContaining('TRUSTED_PROXIES is empty')]],
  ['http://router.example.com', ['10.0.0.0/8'], [expect.stringContaining('has no TLS')]],
  ['http://192.168.1.7:8484', [], [expect.stringContaining('has no TLS')]],
  ['http://127.0.0.1.example.com', [], [expect.stringContaining('has no TLS')]],
])('warns about the address %s behind the proxies %j as it must', (PUBLIC_URL, TRUSTED_PROXIES, warnings) => {
  expect(findAddressWarnings({ PUBLIC_URL, TRUSTED_PROXIES })).toEqual(warnings);
});

it('does not warn about an https address without proxies whose TLS the ingress itself serves', () => {
  const config = { PUBLIC_URL: 'https://router.example.com', TRUSTED_PROXIES: [], TLS_FOLDER: '/tls' };
  expect(findAddressWarnings(config)).toEqual([]);
});

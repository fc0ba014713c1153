import { describe, expect, it } from 'vitest';
import { addressesIn, isNetwork } from '#shared/public-fetch/networks.ts';

describe('isNetwork', () => {
  it.each(['10.0.0.5', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0'])('accepts %s', (text) =>
    expect(isNetwork(text)).toBe(true),
  );
  it.each(['', 'localhost', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1'])(
    'refuses %j',
    (text) => expect(isNetwork(text)).toBe(false),
  );
});

it('addressesIn finds addresses of its networks, and no others', () => {
  const isIn = addressesIn(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
  expect(['10.1.2.3', '127.0.0.1', 'fd12::1'].map(isIn)).toEqual([true, true, true]);
  expect(['10.2.0.1', '127.0.0.2', 'fe80::1', 'localhost'].map(isIn)).toEqual([false, false, false, false]);
  expect(addressesIn([])('127.0.0.1')).toBe(false);
});

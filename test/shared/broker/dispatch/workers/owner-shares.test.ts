import { describe, expect, it } from 'vitest';
import { OwnerShares } from '#shared/broker/dispatch/workers/owner-shares.ts';
import { openOwner } from '#shared/broker/contract/worker-address.ts';

const mib = 1024 * 1024;

describe('the share of an owner', () => {
  it('is a thousand workers, until one of them is gone', () => {
    const shares = new OwnerShares();
    for (let count = 0; count < 1_000; count += 1) {
      expect(shares.hasRoom('joe', true, 100)).toBe(true);
      shares.add('joe', 1, 100);
    }
    expect(shares.hasRoom('joe', true, 100)).toBe(false);
    expect(shares.hasRoom('joe', false, 100)).toBe(true);
    expect(shares.hasRoom('ann', true, 100)).toBe(true);
    shares.add('joe', -1, -100);
    expect(shares.hasRoom('joe', true, 100)).toBe(true);
  });

  it('is 64 MiB of announcements, new ones and such that grow', () => {
    const shares = new OwnerShares();
    for (let count = 0; count < 64; count += 1) shares.add('joe', 1, mib);
    expect(shares.hasRoom('joe', true, 1)).toBe(false);
    expect(shares.hasRoom('joe', false, 1)).toBe(false);
    expect(shares.hasRoom('joe', false, -1)).toBe(true);
  });

  it('does not limit workers without a credential', () => {
    const shares = new OwnerShares();
    shares.add(openOwner, 9_000, 500 * mib);
    expect(shares.hasRoom(openOwner, true, mib)).toBe(true);
  });
});

import { expect, it } from 'vitest';
import { DeviceCodes } from '#shared/accounts/sign-in/programs/device-codes.ts';
import { useKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { errorWith } from '../../../../helpers/error-with.ts';

const open = useKeyStore();
const tooMany = errorWith('rate_limit_exceeded');

/** Begins so many sign-ins from each of some networks of a site, and returns how many were not refused. */
async function beginFrom(devices: DeviceCodes, site: string, networks: number, each: number): Promise<number> {
  let begun = 0;
  for (let network = 0; network < networks; network += 1) {
    const address = `${site}:${network.toString(16)}::1`;
    const outcomes = await Promise.allSettled(
      Array.from({ length: each }, () => devices.begin({ client: 'a program', address })),
    );
    begun += outcomes.filter(({ status }) => status === 'fulfilled').length;
  }
  return begun;
}

it('the sign-ins of a site of IPv6 that wait for a person are at most half of what others leave', async () => {
  const devices = new DeviceCodes(open.redis, open.prefix);
  const begin = (address: string) => devices.begin({ client: 'a program', address });
  expect(await beginFrom(devices, '2001:db8:1', 1, 60)).toBe(50);
  const codes = [await begin('2001:db8:1:fe::1'), await begin('2001:db8:1:ff::1')];
  expect(await beginFrom(devices, '2001:db8:1', 110, 50)).toBe(4_948);
  await expect(begin('2001:db8:1:ffff::1')).rejects.toEqual(tooMany);
  await begin('192.0.2.1');
  await begin('2001:db8:2::1');
  // The two of others leave one less to the site.
  for (const { userCode } of codes) {
    await expect(begin('2001:db8:1:ffff::1')).rejects.toEqual(tooMany);
    expect(await devices.deny(userCode)).toBe(true);
  }
  await begin('2001:db8:1:ffff::1');
});

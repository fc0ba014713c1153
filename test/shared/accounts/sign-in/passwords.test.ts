import { expect, it } from 'vitest';
import { Passwords } from '#shared/accounts/sign-in/passwords.ts';
import { errorWith } from '../../../helpers/error-with.ts';

it('the addresses of a site of IPv6 have the places of one address among those who wait for a check of a password', async () => {
  const passwords = new Passwords();
  await passwords.matches('192.0.2.1', undefined, 'x');
  const check = (address: string) => passwords.matches(address, undefined, 'x').catch((error: unknown) => error);
  const ofSite = Array.from({ length: 80 }, (_, at) => check(`2001:db8:1:${at.toString(16)}::1`));
  expect(await check('192.0.2.1')).toBe(false);
  const outcomes = await Promise.all(ofSite);
  // Two run, and four wait.
  expect(outcomes.slice(0, 6)).toEqual(Array(6).fill(false));
  expect(outcomes.slice(6)).toEqual(Array(74).fill(errorWith('overloaded')));
});

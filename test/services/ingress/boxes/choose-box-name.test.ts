import { expect, it } from 'vitest';
import { chooseBoxName } from '#services/ingress/boxes/choose-box-name.ts';
import { credentialNamePattern } from '#shared/broker/connection/credential.ts';

const choose = (name: string | undefined, host: string, taken: string[] = [], entries: string[] = []): string =>
  chooseBoxName(
    { name, host },
    (each) => taken.includes(each),
    (each) => entries.includes(each),
  );

it.each([
  ['Joes-Box.local', 'joes-box'],
  ['joes_box', 'joes_box'],
  ['Jörgs Rechner', 'j-rgs-rechner'],
  ['', 'box'],
  ['...', 'box'],
  ['über', 'ber'],
  ['日本', 'box'],
  ['x'.repeat(70), 'x'.repeat(64)],
])('a box on the host %j is called %s', (host, name) => {
  expect(choose(undefined, host)).toBe(name);
  expect(name).toMatch(credentialNamePattern);
});

it('a box gets the name that an administrator has chosen, and a number if the name is taken', () => {
  expect(choose('Joe', 'host')).toBe('Joe');
  expect(choose('joe', 'host', ['joe', 'joe-2'])).toBe('joe-3');
  const long = 'x'.repeat(64);
  expect(choose(long, 'host', [long])).toBe(`${'x'.repeat(62)}-2`);
});

it('a box does not choose a name that has more rights than others, but an administrator may', () => {
  for (const host of ['gpu', 'cli', 'cloud', 'tools', 'ingress', 'runner', 'open'])
    expect(choose(undefined, host)).toBe(`${host}-2`);
  expect(choose(undefined, 'trusted', [], ['trusted'])).toBe('trusted-2');
  expect(choose('trusted', 'host', [], ['trusted'])).toBe('trusted');
  expect(choose('trusted', 'host', ['trusted'], ['trusted', 'trusted-2'])).toBe('trusted-3');
});

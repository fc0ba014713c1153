import { expect, it } from 'vitest';
import { foldedTeamName } from '#shared/accounts/people/team-store.ts';

it.each([
  ['Straße', 'STRASSE'],
  ['ΟΔΟΣ Α', 'οδοσ α'],
  ['ς', 'σ'],
  ['Caf\u00e9', 'CAFE\u0301'],
  ['Blue  Team', 'blue\u00a0team'],
])('the name %s of a team is the same as %s', (one, other) => {
  expect(foldedTeamName(one)).toBe(foldedTeamName(other));
});

it('names of teams that differ by an accent are not the same', () => {
  expect(foldedTeamName('Café')).not.toBe(foldedTeamName('Cafe'));
});

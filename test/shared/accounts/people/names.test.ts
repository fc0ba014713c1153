import { expect, it } from 'vitest';
import { foldTeamName } from '#shared/accounts/people/team-store.ts';
import { displayNameSchema } from '#shared/accounts/people/user.ts';

it.each(['Ada', 'Zoë', 'Ἀθηνᾶ', 'ปราณี', 'नमस्ते', '王', 'CI (nightly)'])('a name to show may be %s', (name) => {
  expect(displayNameSchema.safeParse(name).success).toBe(true);
});

it.each([
  ['is invisible', 'ㅤㅤ'],
  ['turns the text around it', '‮ada'],
  ['has letters of no width', 'a​b'],
  ['towers over the lines around it', `a${'́'.repeat(5)}`],
  ['has a line break', 'a\nb'],
  ['has half a character', 'a\ud800b'],
])('a name to show is refused if it %s', (_, name) => {
  expect(displayNameSchema.safeParse(name).success).toBe(false);
});

it.each([
  ['Straße', 'STRASSE'],
  ['ΟΔΟΣ Α', 'οδοσ α'],
  ['ς', 'σ'],
  ['Caf\u00e9', 'CAFE\u0301'],
  ['Blue  Team', 'blue\u00a0team'],
])('the name %s of a team is the same as %s', (one, other) => {
  expect(foldTeamName(one)).toBe(foldTeamName(other));
});

it('names of teams that differ by an accent are not the same', () => {
  expect(foldTeamName('Café')).not.toBe(foldTeamName('Cafe'));
});

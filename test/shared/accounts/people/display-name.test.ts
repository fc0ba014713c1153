import { describe, expect, it } from 'vitest';
import { displayNameSchema } from '#shared/accounts/people/user.ts';

describe('a name to show', () => {
  it.each(['Ada', 'Zoë', 'Ἀθηνᾶ', 'ปราณี', 'नमस्ते', '王', 'CI (nightly)'])('may be %s', (name) => {
    expect(displayNameSchema.safeParse(name).success).toBe(true);
  });

  it.each([
    ['is invisible', 'ㅤㅤ'],
    ['turns the text around it', '‮ada'],
    ['has letters of no width', 'a​b'],
    ['towers over the lines around it', `a${'́'.repeat(5)}`],
    ['has a line break', 'a\nb'],
    ['has half a character', 'a\ud800b'],
  ])('is none that %s', (_, name) => {
    expect(displayNameSchema.safeParse(name).success).toBe(false);
  });
});

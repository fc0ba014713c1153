import { describe, expect, it } from 'vitest';
import { InputUnwrapper } from '#shared/translate/responses/input-unwrapper.ts';
import { least } from '../../../helpers/least.ts';
import { timeOf } from '../../../helpers/time-of.ts';

/** Returns the text that arrives together with the arguments, and the whole text at their end. */
function unwrap(pieces: readonly string[]): { streamed: string; whole: string } {
  const unwrapper = new InputUnwrapper();
  const streamed = pieces.map((piece) => unwrapper.addPiece(piece)).join('');
  return { streamed, whole: unwrapper.finish() };
}

describe('the input of a custom tool', () => {
  const texts = ['', 'plain', 'a\nb\t"c"\\', '/\b\f\r', 'Grüße 🦡 \u2028', '{"input":"x"}'];

  it.each(texts)('is extracted from its arguments in pieces of any length: %j', (text) => {
    for (const escaped of [false, true]) {
      const json = JSON.stringify({ input: text });
      const written = escaped ? json.replaceAll(/[^ -~]/g, unicodeEscape) : json;
      for (const size of [1, 2, 3, 5, 7, written.length]) {
        const pieces = written.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
        expect(unwrap(pieces)).toEqual({ streamed: text, whole: text });
      }
    }
  });

  it.each(['input', 'patch'])('named %s is extracted from small pieces in linear time', async (name) => {
    const take = timeOf(() => {
      const unwrapper = new InputUnwrapper();
      unwrapper.addPiece(`{"${name}":"`);
      for (let piece = 0; piece < 100_000; piece++) unwrapper.addPiece('abc\\n');
      unwrapper.addPiece('"}');
      expect(unwrapper.finish()).toHaveLength(400_000);
    });
    // This takes 0.1 s; it would take 10 s if each piece read the whole text again.
    expect(await least(take, 3_000)).toBeLessThan(3_000);
  });

  it('never ends in half a character', () => {
    const unwrapper = new InputUnwrapper();
    const pieces = ['{"input":"', '\\ud83e', '\\udd', 'a1', '\\ud83e', 'x"}'].map((piece) => unwrapper.addPiece(piece));
    expect(pieces).toEqual(['', '', '', '🦡', '', '\ud83ex']);
  });

  it.each([
    ['with spaces', ['{ "input" : "a" }'], 'a'],
    ['under another name', ['{"patch":', '"a\\n"}'], 'a\n'],
    ['as a JSON string', ['"a\\nb"'], 'a\nb'],
    ['as the text itself', ['*** Begin', ' Patch'], '*** Begin Patch'],
    ['cut off', ['{"input":"a\\n', 'b'], 'a\nb'],
    ['with another argument before it', ['{"why":"w","input":"a"}'], 'a'],
  ])('is found %s', (_, pieces, whole) => {
    expect(unwrap(pieces).whole).toBe(whole);
  });
});

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

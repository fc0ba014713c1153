import { array, assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyStop } from '#services/demo-engine/answer/plan-answer.ts';
import { makeFiller, splitIntoTokens } from '#services/demo-engine/answer/split-into-tokens.ts';
import { encodeText } from '#shared/upstream/o200k-tokens.ts';

const textOf = (pieces: readonly { text: string }[]): string => pieces.map(({ text }) => text).join('');
const tokensOf = (pieces: readonly { tokens: number }[]): number => pieces.reduce((sum, { tokens }) => sum + tokens, 0);

describe('cutting a text into tokens', () => {
  it('loses nothing and never cuts a character, whatever the text', () => {
    assert(
      property(string({ unit: 'grapheme' }), (text) => {
        const pieces = splitIntoTokens(text);
        expect(textOf(pieces)).toBe(text);
        expect(tokensOf(pieces)).toBe(encodeText(text).length);
        expect(pieces.every((piece) => piece.text.isWellFormed())).toBe(true);
      }),
    );
  });

  it('makes filler of exactly the given number of tokens', () => {
    expect(encodeText(textOf(makeFiller(300)))).toHaveLength(300);
  });
});

it('stop strings cut before the one that completes first, regardless of where the pieces end', () => {
  const word = string({ unit: constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 });
  assert(
    property(array(word, { maxLength: 12 }), array(word, { maxLength: 3 }), (texts, stops) => {
      const pieces = texts.map((text) => ({ text, tokens: 1 }));
      const whole = texts.join('');
      const { pieces: kept, stop } = applyStop(pieces, stops);
      const ends = stops.filter((one) => whole.includes(one)).map((one) => whole.indexOf(one) + one.length);
      if (stop === null) {
        expect([ends, textOf(kept)]).toEqual([[], whole]);
        return;
      }
      const end = Math.min(...ends);
      expect(textOf(kept)).toBe(whole.slice(0, whole.indexOf(stop)));
      expect(whole.indexOf(stop) + stop.length).toBe(end);
      // The tokens that complete the stop string count; no later ones do.
      expect(texts.slice(0, tokensOf(kept)).join('').length).toBeGreaterThanOrEqual(end);
      expect(texts.slice(0, tokensOf(kept) - 1).join('').length).toBeLessThan(end);
    }),
  );
});

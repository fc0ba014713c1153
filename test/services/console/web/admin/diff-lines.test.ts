import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, collapseEqualLines, type DiffLine } from '#services/console/web/pages/admin/registry/diff-lines.ts';

function written(diff: readonly DiffLine[]): string {
  return diff.map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`).join('\n');
}

describe('the diff of two texts', () => {
  it('changes as few lines as possible', () => {
    expect(written(diffLines('a\nb\nc\nd\n', 'a\nc\nx\nd\ne\n'))).toBe(' a\n-b\n c\n+x\n d\n+e');
    expect(written(diffLines('', 'a\n'))).toBe('+a');
    expect(written(diffLines('a', 'a\n'))).toBe(' a');
  });

  it('contains both texts, whatever they are', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
    const text = lines.map((some) => `${some.join('\n')}\n`);
    fc.assert(
      fc.property(text, text, (earlier, later) => {
        const diff = diffLines(earlier, later);
        const side = (left: string): string =>
          diff.flatMap(({ kind, text }) => (kind === left ? [] : [`${text}\n`])).join('');
        expect(side('added')).toBe(earlier);
        expect(side('removed')).toBe(later);
      }),
    );
  });

  it('is computed at once for large texts that have nothing in common', () => {
    const large = (letter: string): string => Array.from({ length: 8_000 }, (_, at) => `${letter}${at}`).join('\n');
    const diff = diffLines(`same\n${large('a')}`, `same\n${large('b')}`);
    expect(diff.filter(({ kind }) => kind === 'same')).toHaveLength(1);
    expect(diff).toHaveLength(16_001);
  });

  it('is shown with three equal lines around each change', () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const later = lines.with(9, 'another').join('\n');
    const parts = collapseEqualLines(diffLines(lines.join('\n'), later));
    expect(parts.map((part) => ('lines' in part ? part.lines.length : -part.leftOut))).toEqual([-6, 8, -7]);
  });
});

import { describe, expect, it } from 'vitest';
import {
  keptBounds,
  nameOf,
  idsBeyondBounds,
  type SavedContent,
  type SavedHead,
} from '#services/console/web/pages/playground/saved/saved-conversation.ts';

const now = Date.UTC(2026, 10, 28);
function head(id: string, ageDays: number, size = 10): SavedHead {
  return { id, name: id, at: now - ageDays * 86_400_000, size, revision: 1 };
}

describe('saved conversations', () => {
  it('beyond the maximum number are deleted, the oldest first, except the one that is open', () => {
    const heads = Array.from({ length: keptBounds.count + 2 }, (_, at) => head(`c${at}`, at / 10));
    const last = keptBounds.count + 1;
    expect(idsBeyondBounds(heads, now)).toEqual([`c${last - 1}`, `c${last}`]);
    expect(idsBeyondBounds(heads, now, `c${last}`)).toEqual([`c${last - 2}`, `c${last - 1}`]);
  });

  it('beyond the maximum size or age are deleted', () => {
    const half = keptBounds.size / 2;
    expect(idsBeyondBounds([head('new', 0, half), head('next', 1, half)], now)).toEqual([]);
    expect(idsBeyondBounds([head('old', 2, 1), head('new', 0, half), head('next', 1, half)], now)).toEqual(['old']);
    expect(idsBeyondBounds([head('old', keptBounds.days + 0.1), head('new', keptBounds.days)], now)).toEqual(['old']);
  });

  it('are named by their first words', () => {
    const said = (text: string): SavedContent => ({
      format: 'any',
      settings: { system: '', maxTokens: '', temperature: '', thinking: false, tools: [] },
      ownTools: '',
      sides: [{ model: 'demo', turns: [{ role: 'user', text, images: [] }] }],
    });
    expect(nameOf(said('  Of ebb\n and flow. '))).toBe('Of ebb and flow.');
    expect(nameOf(said(''))).toBe('A picture');
    expect(nameOf(said('🌊'.repeat(100)))).toBe(`${'🌊'.repeat(59)}…`);
  });
});

import { describe, expect, it } from 'vitest';
import { sortAsTree } from '#shared/core/sort-as-tree.ts';

function order(...all: [id: string, parent?: string][]): string[] {
  const sorted = sortAsTree(all.map(([id, parent]) => ({ id, parent })));
  return sorted.map(({ item, depth }) => `${'.'.repeat(depth)}${item.id}`);
}

describe('items sorted as a tree', () => {
  it('stand below the item that has started them', () => {
    expect(order(['a'], ['b'], ['a1', 'a'], ['a11', 'a1'], ['a2', 'a'])).toEqual(['a', '.a1', '..a11', '.a2', 'b']);
  });

  it('stand at the top if that item is unknown, or if they would be their own ancestors', () => {
    expect(order(['a', 'gone'], ['b', 'c'], ['c', 'b'], ['d', 'd'])).toEqual(['a', 'b', '.c', 'd']);
  });

  it('are all present, also those without an id', () => {
    expect(sortAsTree([{ parent: 'x' }, { id: 'x' }])).toEqual([
      { item: { id: 'x' }, depth: 0 },
      { item: { parent: 'x' }, depth: 1 },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { assignValidNames } from '#shared/core/valid-names.ts';

const pattern = /^[a-zA-Z0-9_-]{1,64}$/;
const chosen = (...names: string[]): string[] => [...assignValidNames(names).values()];

describe('valid names of tools', () => {
  it('are the original ones if these are valid', () => {
    expect(chosen('a', 'B-2', 'c_d', 'x'.repeat(64))).toEqual(['a', 'B-2', 'c_d', 'x'.repeat(64)]);
  });

  it('have _ in place of invalid characters', () => {
    expect(chosen('files.read', 'a/b:c', 'größe')).toEqual(['files_read', 'a_b_c', 'gr__e']);
  });

  it('never equal the name of another tool', () => {
    const names = ['a_b', 'a.b', 'a/b', '', '.', '搜索', '查询', 'y'.repeat(65), `${'y'.repeat(64)}z`, 'y'.repeat(64)];
    const valid = assignValidNames(names);
    expect(valid.get('a_b')).toBe('a_b');
    expect(new Set(valid.values()).size).toBe(names.length);
    for (const name of valid.values()) expect(name).toMatch(pattern);
    expect(assignValidNames([...names].reverse())).toEqual(new Map([...valid].reverse()));
    expect(valid.get('a.b')).toMatch(/^a_b_[0-9a-f]{8}$/);
  });
});

import { expect, it } from 'vitest';
import { toTableLines } from '#services/rtr/commands/table-lines.ts';

it('a table contains no characters that control a terminal', () => {
  const rows = [
    ['NAME', 'NOTE'],
    ['a', 'red \u001B[31m\u202E and\r\nmore'],
  ];
  expect(toTableLines(rows)).toEqual(['NAME  NOTE', 'a     red \uFFFD[31m\uFFFD and\uFFFD\uFFFDmore']);
});

import { describe, expect, it } from 'vitest';
import { findCitations } from '#shared/formats/hosted/find-citations.ts';
import { least } from '../../../helpers/least.ts';
import { timeOf } from '../../../helpers/time-of.ts';

const wiki = 'https://wiki.example/Badger_(animal)';
const results = [
  'https://a.example/x',
  'https://a.example/x/y',
  'https://a.example/x.html',
  wiki,
  'https://ja.example/%E7%A9%B4%E7%86%8A',
  'http://b.example',
  'about:blank',
].map((url, at) => ({ title: `Result ${at}`, url, text: '', age: undefined }));

/** Returns the cited parts of a text, each with the cited address. */
const cited = (text: string): string[][] =>
  findCitations(text, results).map(({ start, end, result }) => [text.slice(start, end), result.url]);

describe('the citations of a text', () => {
  const named = 'https://a.example/x';
  it.each([
    [`See ${named}.`, named, named],
    [`(${named})`, named, named],
    [`<${named}>`, named, named],
    [`**${named}**, and`, named, named],
    [`see（${named}）。`, named, named],
    [`](${named})`, named, named],
    ['See https://a.example/x.html.', 'https://a.example/x.html', 'https://a.example/x.html'],
    ['HTTPS://A.example/x?', 'HTTPS://A.example/x', named],
    [`${named}#part`, `${named}#part`, named],
    ['http://b.example/ and', 'http://b.example/', 'http://b.example'],
    [`[Badgers](${named}) dig.`, `[Badgers](${named})`, named],
    [`[a [b] c](${named} "title")`, `[a [b] c](${named} "title")`, named],
    ['([wiki](https://wiki.example/Badger_(animal)))', '[wiki](https://wiki.example/Badger_(animal))', wiki],
    ['https://ja.example/穴熊', 'https://ja.example/穴熊', 'https://ja.example/%E7%A9%B4%E7%86%8A'],
  ])('are the links and addresses of search results: %s', (text, part, address) => {
    expect(cited(text)).toEqual([[part, address]]);
  });

  it('may be several, or none', () => {
    const both = [
      [`[${named}](${named}/y)`, `${named}/y`],
      [named, named],
    ];
    expect(cited(`[${named}](${named}/y) ${named}`)).toEqual(both);
    expect(cited('Nothing is named.')).toEqual([]);
  });

  const beside = 'https://a.example/ https://a.example/xy https://a.example/x.htm https://a.example/x?q=1';
  const others = 'https://a.example/x/z http://a.example/x about:blank a.example/x';
  it.each(`${beside} ${others}`.split(' '))('do not include other pages: %s', (text) => {
    expect(cited(`See ${text} for more.`)).toEqual([]);
  });

  it('are found in long texts in linear time', async () => {
    const text = '[https://a.example/x](https://a.example/x/y) '.repeat(20_000) + `https://${')'.repeat(100_000)}`;
    const find = timeOf(() => expect(findCitations(text, results)).toHaveLength(20_000));
    expect(await least(find, 5_000)).toBeLessThan(5_000);
  });

  it('are found beside signs that no text shows, in time that grows with its length', async () => {
    const text = `https://a.example/${'\u0001'.repeat(1_900)}${'é'.repeat(20)} `.repeat(50);
    const find = timeOf(() => expect(findCitations(text, results)).toEqual([]));
    expect(await least(find, 2_000)).toBeLessThan(2_000);
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { readSearchResults, type ResultFields } from '#shared/formats/tools/read-search-results.ts';
import { least } from '../../../helpers/least.ts';
import { timeOf } from '../../../helpers/time-of.ts';

const text = (...texts: string[]) => ({ content: texts.map((each) => ({ type: 'text', text: each })) });
const structured = (structured_content: JsonObject) => ({ content: [], structured_content });
const badger = { title: 'Badgers', url: 'https://badgers.example/', text: 'They dig.', age: undefined };
const sett = { title: 'Setts', url: 'https://setts.example/a?b=c', text: 'Where they live.', age: '2 days ago' };

describe('the results of a search', () => {
  it.each<[string, Parameters<typeof readSearchResults>[0], ResultFields?]>([
    [
      'structured content with a list in it',
      structured({
        web: {
          results: [
            { title: 'Badgers', url: badger.url, description: 'They dig.' },
            { title: 'Setts', url: sett.url, description: sett.text, page_age: sett.age },
          ],
        },
      }),
    ],
    [
      'structured content that the text repeats',
      {
        ...text(JSON.stringify([{ name: 'Badgers', link: badger.url, snippet: 'They dig.' }])),
        structured_content: {
          results: [
            { title: 'Badgers', url: badger.url, content: 'They dig.' },
            { title: 'Setts', url: sett.url, content: sett.text, age: sett.age },
          ],
        },
      },
    ],
    [
      'one JSON object in each text',
      text(
        JSON.stringify({ ...badger, description: badger.text }),
        JSON.stringify({ title: 'Setts', url: sett.url, description: sett.text, age: sett.age }),
      ),
    ],
    [
      'fields with names of their own',
      structured({
        ads: [{ t: 'Buy', u: 'https://shop.example/' }],
        hits: [
          { t: 'Badgers', u: badger.url, body: 'They dig.' },
          { t: 'Setts', u: sett.url, body: sett.text, when: sett.age },
        ],
      }),
      { list: 'hits', title: 't', url: 'u', text: 'body', age: 'when' },
    ],
    [
      'labelled lines',
      text(
        `Detailed Results:\n\nTitle: Badgers\nURL: ${badger.url}\nContent: They dig.\n\nTitle: Setts\nPublished Date: 2 days ago\nURL: ${sett.url}\nContent: ${sett.text}\n`,
      ),
    ],
    [
      'numbered titles',
      text(
        `Found 2 search results:\n\n1. Badgers\n   URL: ${badger.url}\n   Summary: They dig.\n\n2. Setts\n   URL: ${sett.url}\n   Age: 2 days ago\n   Summary: ${sett.text}`,
      ),
    ],
    [
      'labelled lines in bold',
      text(
        `1. **Title:** Badgers\n   **URL:** ${badger.url}\nThey dig.\n2. **Title:** Setts\n   **URL:** ${sett.url}\n   **Date:** 2 days ago\n${sett.text}`,
      ),
    ],
  ])('are read from %s', (_, result, fields) => {
    expect(readSearchResults(result, fields)).toEqual([badger, sett]);
  });

  const link = { type: 'resource_link', uri: badger.url, name: 'Badgers', description: 'They dig.' };
  it.each([
    ['Markdown links', text(`- [Badgers](${badger.url})\n  They dig.`)],
    ['links to resources', { content: [link] }],
    ['lines that end as those of Windows do', text(`1. **Badgers**\r\nURL: ${badger.url}\r\nThey dig.\r\n`)],
  ])('are read from %s, too', (_, result) => {
    expect(readSearchResults(result)).toEqual([badger]);
  });

  it.each([
    ['brackets', '['.repeat(100_000)],
    ['links that do not end', '[a](https://'.repeat(30_000)],
    ['stars', '*'.repeat(100_000)],
    ['a title with a gap', `1. a${' '.repeat(100_000)}*x`],
    ['a value with a gap', `url:${' '.repeat(100_000)}x\u2028`],
  ])('are looked for in time that grows with the length of the text: %s', async (_, line) => {
    const read = timeOf(() => expect(readSearchResults(text(`${line}x`))).toHaveLength(1));
    expect(await least(read, 1_000)).toBeLessThan(1_000);
  });

  it('have a text without addresses as one result', () => {
    expect(readSearchResults(text('Badgers dig.'))).toEqual([
      { title: 'Results', url: 'about:blank', text: 'Badgers dig.', age: undefined },
    ]);
    expect(readSearchResults(text(''))).toEqual([]);
    expect(readSearchResults(structured({ results: [] }))).toEqual([]);
  });
});

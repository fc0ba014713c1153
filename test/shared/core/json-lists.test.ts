import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { countFields, parseAroundLists } from '#shared/core/json-lists.ts';
import { parseJsonText } from '#shared/core/json-text.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';

/** Texts whose end is easily mistaken, of all lengths around the limit of the byte-by-byte look. */
function textOf(random: () => number): string {
  const length = Math.floor(random() * 140);
  const filler = ['x', '"', '\\', '\\"', '€', '[', '}', ':', '\n', '\u2028'];
  let text = 'x'.repeat(length);
  for (let more = Math.floor(random() * 4); more > 0; more -= 1) {
    const at = Math.floor(random() * text.length);
    const odd = filler[Math.floor(random() * filler.length)] ?? '';
    text = text.slice(0, at) + odd.repeat(1 + Math.floor(random() * 3)) + text.slice(at);
  }
  return text;
}

function randomJson(random: () => number, depth: number): Json {
  const kind = Math.floor(random() * (depth > 4 ? 4 : 7));
  if (kind === 0) return Math.floor(random() * 1e6) / 8e9 - 7;
  if (kind === 1) return random() < 0.5 ? null : random() < 0.5;
  if (kind < 4) return textOf(random);
  const inner = Array.from({ length: Math.floor(random() * 4) }, () => randomJson(random, depth + 1));
  if (kind === 4) return inner;
  return Object.fromEntries(inner.map((value, at) => [random() < 0.5 ? `k${at}` : textOf(random) + at, value]));
}

const listOf = (random: () => number): Json[] =>
  Array.from({ length: 1 + Math.floor(random() * 5) }, () => randomJson(random, 0));

describe('a JSON object that is parsed without its lists', () => {
  it('is written like an object that was parsed as a whole, with its lists as they were', () => {
    const random = seededRandom(22);
    for (let round = 0; round < 2_000; round += 1) {
      const object: JsonObject = {
        [textOf(random)]: randomJson(random, 0),
        messages: listOf(random),
        other: listOf(random),
        ...(random() < 0.5 && { tools: listOf(random) }),
        last: { messages: randomJson(random, 0), tools: [] },
      };
      const { messages, tools } = object;
      const lists = { messages: countFields(messages), ...(tools !== undefined && { tools: countFields(tools) }) };
      const text = JSON.stringify(object, null, Math.floor(random() * 3));
      const { value, write } = parseAroundLists(Buffer.from(text), lists) ?? {};
      expect(value?.['messages']).toEqual([expect.any(String)]);
      expect({ ...value, messages, ...(tools !== undefined && { tools }) }).toEqual(object);
      const written = Buffer.concat(write?.({ ...value, first: '"', model: 'other' }) ?? []).toString();
      expect(JSON.parse(written)).toEqual({ ...object, first: '"', model: 'other' });
    }
  });

  it.each([
    ['has two fields of one name in a list', '{"messages":[{"a":1,"a":2}]}', { messages: 1 }],
    ['has the list twice', '{"messages":[1],"messages":[2]}', { messages: 0 }],
    ['has the list twice, and one of its names is escaped', '{"messages":[1],"m\\u0065ssages":[2]}', { messages: 0 }],
    ['has no such list', '{"tools":[{"messages":[1]}]}', { messages: 0 }],
    ['has one of two lists', '{"messages":[1]}', { messages: 0, tools: 0 }],
    ['has another value in the place of the list', '{"messages":{"a":[1]}}', { messages: 0 }],
    ['has the list below the top', '{"a":{"messages":[1]}}', { messages: 0 }],
    ['is a list', '[{"messages":[1]}]', { messages: 0 }],
    ['has 501 levels', `{"messages":[${'['.repeat(499)}${']'.repeat(499)}]}`, { messages: 0 }],
  ])('is parsed as a whole if it %s', (_, text, lists) => {
    expect(parseAroundLists(Buffer.from(text), lists)).toBeUndefined();
  });

  it("keeps the client's spaces and escapes in its lists, and no others", () => {
    const text = '{ "messages": [ { "a" : "\\u0041" } ], "b": "\\u0041" }';
    const { value, write } = parseAroundLists(Buffer.from(text), { messages: 1 }) ?? {};
    const written = Buffer.concat(write?.({ ...value }) ?? []).toString();
    expect(written).toBe('{"messages":[ { "a" : "\\u0041" } ],"b":"A"}');
  });

  it('may have 500 levels, and a list whose name was used for another value before', () => {
    const deep = `{"messages":[${'['.repeat(498)}${']'.repeat(498)}]}`;
    expect(parseAroundLists(Buffer.from(deep), { messages: 0 })).toBeDefined();
    const twice = parseAroundLists(Buffer.from('{"messages":1,"messages":[{"b":2}]}'), { messages: 1 });
    expect(Buffer.concat(twice?.write({ ...twice.value }) ?? []).toString()).toBe('{"messages":[{"b":2}]}');
  });

  it('has at least 64 KiB, and drops a list that is left out', () => {
    const short = parseJsonText(Buffer.from('{"messages":[1]}'), { messages: 0 });
    expect([short.value, short.hasUnreadLists]).toEqual([{ messages: [1] }, false]);
    const long = { messages: ['x'.repeat(70_000)], tools: [{ name: 'y' }] };
    const text = Buffer.from(JSON.stringify(long));
    const { value, write, hasUnreadLists } = parseJsonText(text, { messages: 0, tools: 1 });
    expect(hasUnreadLists).toBe(true);
    const { messages } = value as JsonObject;
    expect(Buffer.concat(write({ messages })).toString()).toBe(JSON.stringify({ messages: long.messages }));
  });
});

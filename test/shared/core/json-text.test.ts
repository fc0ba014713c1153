import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { parseJsonText } from '#shared/core/json-text.ts';
import { findLongStrings } from '#shared/core/long-strings.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';

const image = (bytes: number): string => randomBytes(bytes).toString('base64');
const bytesOf = (value: unknown, spaces?: number): Buffer => Buffer.from(JSON.stringify(value, null, spaces));
const parseObject = (text: Buffer): { object: JsonObject; write: () => string } => {
  const { value, write } = parseJsonText(text);
  return { object: value as JsonObject, write: () => Buffer.concat(write(value as JsonObject)).toString() };
};

/** Texts that look like a long string, or like its end, and long strings of all lengths around the limits. */
function pieces(random: () => number): string[] {
  const length = Math.floor(random() * 70_000);
  const base64 = 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(Math.ceil(length / 24)).slice(0, length);
  return [
    base64,
    `data:image/png;base64,${base64}`,
    `${base64}\\`,
    `${base64.slice(1_000)}"${base64.slice(2_000)}`,
    `\\"${base64}`,
    `"${base64}"`,
    `${base64}ä`,
    `${base64}\n${base64}`,
    `${base64}\u007f`,
    ` ${base64}`,
    `,${base64}`,
    '0f7b8a52-3b1c-4f0e-9d4e-2f1f6f0c9a110',
    'word "quoted" \\ and\n'.repeat(Math.ceil(length / 20)),
    '漢字'.repeat(Math.ceil(length / 6)),
    '',
  ];
}

function randomJson(random: () => number, depth: number): Json {
  const kind = Math.floor(random() * (depth > 4 ? 4 : 7));
  if (kind === 0) return Math.floor(random() * 1e6) / 8;
  if (kind === 1) return random() < 0.5 ? null : random() < 0.5;
  if (kind < 4) {
    const all = pieces(random);
    return all[Math.floor(random() * all.length)] ?? '';
  }
  const inner = Array.from({ length: Math.floor(random() * 4) }, () => randomJson(random, depth + 1));
  if (kind === 4) return inner;
  // A long name now and then.
  const name = (at: number): string =>
    random() < 0.02 ? `n${'A'.repeat(40_000)}${at}` : (['a', '__proto__', '', '"'][at] ?? 'z');
  return Object.fromEntries(inner.map((value, at) => [name(at), value]));
}

describe('a JSON text with long strings', () => {
  it('is written like a text that was parsed as a whole', () => {
    const random = seededRandom(20);
    for (let round = 0; round < 120; round += 1) {
      const value = { first: image(60_000), rest: [randomJson(random, 0), randomJson(random, 0)] };
      const text = bytesOf(value, Math.floor(random() * 3));
      const parsed = parseObject(text);
      expect(parsed.write() === parsedWhole(text)).toBe(true);
      // After a read it is still equal, and still written the same.
      expect(JSON.stringify(parsed.object) === JSON.stringify(value)).toBe(true);
      expect(parsed.write() === JSON.stringify(value)).toBe(true);
    }
  });

  it('is refused if any byte of it is missing, doubled or replaced so that it is not JSON', () => {
    const random = seededRandom(21);
    const text = bytesOf({ a: [image(30_000), 'b'], 'c\\"': { d: image(50_000) }, e: `\\"${image(30_000)}` });
    let refused = 0;
    for (let round = 0; round < 500; round += 1) {
      const near = findLongStrings(text).flatMap(({ start, end }) => [start, end]);
      const around = near[Math.floor(random() * near.length)] ?? 0;
      const at = random() < 0.7 ? around - 3 + Math.floor(random() * 6) : Math.floor(random() * text.length);
      const other = Buffer.from(['"', '\\', '\n', '\0', ',', '{', 'é', 'A', '', '""'][Math.floor(random() * 10)] ?? '');
      const changed = Buffer.concat([text.subarray(0, at), other, text.subarray(at + (random() < 0.5 ? 1 : 0))]);
      const whole = parsedWhole(changed);
      if (whole === undefined) {
        refused += 1;
        expect(() => parseJsonText(changed)).toThrow(SyntaxError);
      } else expect(parseObject(changed).write() === whole).toBe(true);
    }
    expect(refused).toBeGreaterThan(100);
  });

  it('has the last of two values of one name', () => {
    const text = Buffer.from(`{"a":"${image(60_000)}","a":"x","b":["${image(60_000)}"]}`);
    expect(parseObject(text).object['a']).toBe('x');
    expect(parseObject(text).write()).toBe(parsedWhole(text));
  });

  it('may have long texts between two strings, and escaped quotes before what looks like a string', () => {
    const numbers = Array.from({ length: 20_000 }, (_, at) => at);
    const quoted = `\\"${image(60_000)}`;
    const text = bytesOf({ a: 'x', numbers, b: quoted, c: image(60_000), '"': `"${quoted}` }, 1);
    const spaced = Buffer.from(`{"a":"x"${' '.repeat(100_000)},"b":"${image(60_000)}"}`);
    for (const each of [text, spaced]) expect(parseObject(each).write()).toBe(parsedWhole(each));
  });

  it('gives its strings to code that reads, copies, changes or moves them', () => {
    const [one, two] = [image(60_000), image(60_000)];
    const { value, write } = parseJsonText(bytesOf({ parts: [{ url: one }, two], kept: { data: one } }));
    const { parts, kept } = value as { parts: [{ url: string }, string]; kept: JsonObject };
    const [first, second] = parts;
    expect({ ...first }).toEqual({ url: one });
    expect([...parts][1]).toBe(two);
    expect(structuredClone(kept)).toEqual({ data: one });
    const made = { moved: [kept, kept], own: first.url.slice(10), part: second.length, list: [...parts] };
    const moved = [{ data: one }, { data: one }];
    const plain = { moved, own: one.slice(10), part: two.length, list: [{ url: one }, two] };
    expect(Buffer.concat(write(made)).toString()).toBe(JSON.stringify(plain));
  });

  it('is written with the values that replaced its strings', () => {
    const { object, write } = parseObject(bytesOf({ data: image(60_000), list: [image(60_000)] }));
    object['data'] = 'new';
    (object['list'] as Json[])[0] = 1;
    expect(write()).toBe('{"data":"new","list":[1]}');
  });

  it('has short strings while it is skimmed, and its own again afterwards, even after a failure', () => {
    const data = image(60_000);
    const { value, skim } = parseJsonText(bytesOf({ data }));
    const object = value as { data: string };
    expect(skim(() => object.data.length)).toBeLessThan(100);
    const fail = vi.fn().mockThrow(new Error('no'));
    expect(() => skim(fail)).toThrow('no');
    expect(object.data).toBe(data);
  });

  it('is not JSON if it is one long string without an end, and a string if it has one', () => {
    expect(() => parseJsonText(Buffer.from(`"${image(60_000)}`))).toThrow(SyntaxError);
    const text = image(60_000);
    expect(parseJsonText(Buffer.from(`"${text}"`)).value).toBe(text);
  });
});

describe('the long strings of a text', () => {
  it('are found wherever they begin in memory', () => {
    const data = image(6 * 1024 * 1024);
    for (let offset = 0; offset < 5; offset += 1) {
      const text = Buffer.from(`${'x'.repeat(offset)}{"a":"${data}"}`).subarray(offset);
      expect(findLongStrings(text)).toEqual([{ start: 6, end: 6 + data.length }]);
    }
  });

  it.each(['\u001f', '\n', '\0', '\u0080', 'ä', '\\'])('do not contain %j in any place', (odd) => {
    const data = image(40_000);
    for (const at of [1, 2, 3, 4, 5, 20_000, data.length - 3, data.length - 2, data.length - 1]) {
      const text = Buffer.from(`{"a":"${data.slice(0, at)}${odd}${data.slice(at)}"}`);
      expect(findLongStrings(text)).toEqual([]);
    }
  });
});

function parsedWhole(text: Buffer): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text.toString()));
  } catch {
    return undefined;
  }
}

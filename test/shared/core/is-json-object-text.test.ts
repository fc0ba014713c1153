import { expect, it } from 'vitest';
import { isJsonObjectText } from '#shared/core/is-json-object-text.ts';
import { isJsonObject, maxLevels, parseIfJson } from '#shared/core/json.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';

const accepts = (text: string): boolean => isJsonObjectText(Buffer.from(text));

it.each([
  '{}',
  ' {\t"a" :\r\n[ ] , "b":{ } } ',
  '{"a":[1,-0,0.5,1e9,-1.25E-3,2e+7,true,false,null,"",{"b":[[]]}],"":{}}',
  String.raw`{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D"}`,
  '{"é":"😀\u007f\u2028"}',
])('the JSON object %j is accepted', (text) => {
  expect([accepts(text), isJsonObject(parseIfJson(text))]).toEqual([true, true]);
});

it.each([
  ['', ' ', '{', '}', '[]', '[{}]', '"a"', '1', 'null', 'Hello.', '{}{}', '{} x', '{},', '\uFEFF{}'],
  ['{"a"}', '{"a":}', '{"a":1,}', '{,"a":1}', '{"a":1 "b":2}', '{a:1}', "{'a':1}", '{"a":1]', '{"a":[1}', '{"a":[1,]}'],
  ['{"a":01}', '{"a":-}', '{"a":.5}', '{"a":1.}', '{"a":1e}', '{"a":+1}', '{"a":NaN}', '{"a":tru}', '{"a":nulll}'],
  [
    '{"a":"',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":"\\u12"}',
    '{"a":"\\',
    '{"a":1}\n{"b":2}',
    '{"a":é}',
  ],
])('texts that are no JSON objects are refused: %j and others', (...texts) => {
  for (const text of texts)
    expect([text, accepts(text), isJsonObject(parseIfJson(text))]).toEqual([text, false, false]);
});

it('an object with changed bytes is accepted if and only if it is still an object', () => {
  const random = seededRandom(1);
  const pick = (length: number): number => Math.floor(random() * length);
  const source = Buffer.from(String.raw`{"a":[1,-0.5e+3,true,null,"x\n\u00e9"],"b":{"c":{},"d":[]} , "e":""}`);
  const bytes = Buffer.from('{}[]",:\\ \n0123.eE+-tfnulrabx');
  let accepted = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const changed = Buffer.from(source);
    for (let count = pick(3); count >= 0; count -= 1) changed[pick(changed.length)] = bytes[pick(bytes.length)] ?? 0;
    const text = changed.subarray(0, pick(10) === 0 ? pick(changed.length) : changed.length);
    const isObject = isJsonObject(parseIfJson(text.toString()));
    expect([text.toString(), isJsonObjectText(text)]).toEqual([text.toString(), isObject]);
    accepted += Number(isObject);
  }
  expect(accepted).toBeGreaterThan(1_000);
});

it('an object is accepted up to a depth that every reader of it can follow', () => {
  const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
  expect([accepts(nested(maxLevels)), accepts(nested(maxLevels + 1))]).toEqual([true, false]);
});

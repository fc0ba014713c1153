import { Script } from 'node:vm';
import type { JsonObject } from '#shared/core/json.ts';
import type { HintKind, HintPool } from './find-hints.ts';

/**
 * Returns a value for a string property: the value that the user names for the property, otherwise a hint that suits the property's name,
 * otherwise an example.
 */
export function fillString(schema: JsonObject, property: string, hints: HintPool): string {
  const fits = (value: string): boolean => fitsSchema(value, schema);
  const namedValue = hints.findNamed(property);
  if (namedValue !== undefined && fits(namedValue)) return namedValue;
  const { kinds, example } = chooseExample(schema, property);
  const hint = hints.take(kinds, fits);
  if (hint !== undefined) return hint;
  const candidates = [
    schema['default'],
    ...toList(schema['examples']),
    example,
    hints.text.trim().slice(0, 80),
    ...samples,
  ];
  const candidate = candidates.find((value) => typeof value === 'string' && fits(value));
  return typeof candidate === 'string' ? candidate : fitLength(example, schema);
}

/** Sample values for a `pattern`. A pattern that matches no sample is ignored. */
const samples = [
  'demo',
  'DEMO',
  'Demo',
  '0',
  '1',
  '12',
  '123',
  '1234',
  '12345',
  'a',
  'A',
  'ab',
  'AB',
  'a1',
  'a-b',
  'a_b',
  'A-1',
  '#aabbcc',
  '1.0.0',
  'true',
];

const examplesByFormat: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'PT1S',
  email: 'demo@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '127.0.0.1',
  ipv6: '::1',
  hostname: 'example.com',
};

function chooseExample(schema: JsonObject, property: string): { kinds: HintKind[]; example: string } {
  const format = typeof schema['format'] === 'string' ? examplesByFormat[schema['format']] : undefined;
  if (/ur[il]|link|href|website/i.test(property) || schema['format'] === 'uri') {
    return { kinds: ['url'], example: 'https://example.com/' };
  }
  if (format !== undefined) return { kinds: [], example: format };
  if (isPathLike(property)) return { kinds: ['path', 'quoted'], example: 'demo.txt' };
  // Agents run this value, so it must be a command that the user quoted, or a harmless command.
  if (/command|cmd|script|code/i.test(property)) return { kinds: ['quoted'], example: 'echo demo' };
  return { kinds: ['quoted', 'name', 'path', 'url'], example: 'demo' };
}

/** Returns whether a property's name suggests a file or folder. */
export function isPathLike(property: string): boolean {
  return /path|file|dir(?:ectory)?$|folder|cwd/i.test(property);
}

function fitsSchema(value: string, schema: JsonObject): boolean {
  const { minLength, maxLength, pattern, format } = schema;
  // JSON Schema counts code points.
  const { length } = Array.from(value);
  if (typeof minLength === 'number' && length < minLength) return false;
  if (typeof maxLength === 'number' && length > maxLength) return false;
  if (typeof format === 'string' && Object.hasOwn(examplesByFormat, format) && format !== 'uri')
    return value === examplesByFormat[format];
  return typeof pattern !== 'string' || matchesPattern(value, pattern);
}

/** Timeout for matching a pattern, in milliseconds. Some patterns need exponential time. */
const maxPatternMs = 50;
const patternScript = new Script("new RegExp(pattern, 'u').test(value)");

/** Returns whether a value matches a pattern. A pattern that is invalid or takes too long matches every value. */
function matchesPattern(value: string, pattern: string): boolean {
  try {
    return patternScript.runInNewContext({ value, pattern }, { timeout: maxPatternMs }) === true;
  } catch {
    return true;
  }
}

function fitLength(value: string, { minLength, maxLength }: JsonObject): string {
  const padded = typeof minLength === 'number' ? value.padEnd(Math.min(minLength, 10_000), '.') : value;
  return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded;
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

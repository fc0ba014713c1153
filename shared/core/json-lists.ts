import { randomUUID } from 'node:crypto';
import { parseWithWriter } from './exact-numbers.ts';
import { isJsonObject, maxLevels, type Json, type JsonObject } from './json.ts';
import { findStringEnd } from './find-string-end.ts';

/** The lists at the top level of a JSON object: for the name of each list, the number of fields of all objects in it. */
export type ListSizes = Readonly<Record<string, number>>;

/** A JSON object with unparsed lists. An unparsed list contains one string, the mark of the list, instead of its elements. */
export interface AroundLists {
  value: JsonObject;
  /** Writes an object as `writeExact` does, in UTF-8, in pieces. The elements of unparsed lists are copied from the original text. */
  write: (object: JsonObject) => Buffer[];
}

interface ListRange {
  name: string;
  /** The range of the list's elements, without brackets. */
  start: number;
  end: number;
}

/** Counts the fields of all objects in a JSON value, at any depth. */
export function countFields(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) count += countFields(element);
    return count;
  }
  for (const name of Object.keys(value)) count += 1 + countFields(value[name]);
  return count;
}

/**
 * Parses the text of a JSON object except for some lists. See docs/decisions/0022-lists-passed-unread.md.
 * @param text valid JSON in UTF-8
 * @returns undefined if the text must be parsed as a whole: a list is missing, appears twice, is nested too deeply, or has another number
 * of fields than `lists` states. In the last case, an object in the list may have two fields with the same name
 */
export function parseAroundLists(text: Buffer, lists: ListSizes): AroundLists | undefined {
  const ranges = findLists(text, lists);
  if (!ranges) return undefined;
  // Generated after the text has arrived, so that the text cannot contain it.
  const mark = randomUUID();
  let skeleton = '';
  let from = 0;
  for (const [index, { start, end }] of ranges.entries()) {
    skeleton += `${text.toString('utf8', from, start)}"${mark}${index}"`;
    from = end;
  }
  skeleton += text.toString('utf8', from);
  const { value, stringify } = parseWithWriter(skeleton);
  if (!isJsonObject(value)) return undefined;
  // JSON can write a field's name in several ways, and the last of two fields with the same name counts.
  for (const [index, { name }] of ranges.entries()) {
    const list = value[name];
    if (!Array.isArray(list) || list[0] !== `${mark}${index}`) return undefined;
  }
  const elements = ranges.map(({ start, end }) => text.subarray(start, end));
  return { value, write: (object) => writeAround(stringify(object), mark, elements) };
}

function writeAround(text: string, mark: string, elements: readonly Buffer[]): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let position = text.indexOf(mark); position !== -1; position = text.indexOf(mark, from)) {
    const end = text.indexOf('"', position);
    pieces.push(Buffer.from(text.slice(from, position - 1)));
    const list = elements[Number(text.slice(position + mark.length, end))];
    if (list) pieces.push(list);
    from = end + 1;
  }
  return [...pieces, Buffer.from(text.slice(from))];
}

/**
 * Finds the lists in one pass over the text, which checks only brackets, colons and the ends of strings. Returns undefined if the text must
 * be parsed as a whole.
 */
function findLists(text: Buffer, lists: ListSizes): ListRange[] | undefined {
  const ranges: ListRange[] = [];
  let levels = 0;
  let fields = 0;
  let name = '';
  let [stringStart, stringEnd] = [0, 0];
  /** The list at the current position; undefined outside the lists. */
  let openList: { name: string; start: number } | undefined;
  for (let position = 0; position < text.length; position += 1) {
    switch (text[position]) {
      case 0x22: // "
        stringStart = position + 1;
        stringEnd = findStringEnd(text, stringStart);
        position = stringEnd;
        break;
      case 0x3a: // :
        fields += 1;
        if (levels === 1) name = text.toString('latin1', stringStart, stringEnd);
        break;
      case 0x5b: // [
      case 0x7b: // {
        levels += 1;
        if (levels > maxLevels) return undefined;
        if (levels !== 2 || text[position] !== 0x5b || !Object.hasOwn(lists, name)) break;
        if (ranges.some((list) => list.name === name)) return undefined;
        openList = { name, start: position + 1 };
        fields = 0;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        levels -= 1;
        if (levels !== 1 || !openList) break;
        if (fields !== lists[openList.name]) return undefined;
        ranges.push({ ...openList, end: position });
        openList = undefined;
        break;
      default:
    }
  }
  return ranges.length === Object.keys(lists).length ? ranges : undefined;
}

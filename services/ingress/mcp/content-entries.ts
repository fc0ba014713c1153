import { isSpecType, type Prompt, type Resource, type ResourceTemplateType } from '@modelcontextprotocol/server';
import { announcedName, announcedText } from '#shared/broker/contract/announced-text.ts';
import type { ContentKind, ContentMethod } from '#shared/broker/contract/server-content.ts';
import { nestsTooDeeply, type Json, type JsonObject } from '#shared/core/json.ts';

/** Maximum entries of a server in one list; further entries are left out. */
const maxEntries = 1_000;
/** Maximum bytes of one entry as JSON. */
const maxEntryBytes = 64 * 1024;
/** An entry counts as at least this many bytes, because even the smallest entry takes time to handle. */
const minEntryBytes = 128;
/** Maximum bytes of a server's entries in one list. */
const maxServerBytes = 512 * 1024;
/** Maximum bytes of the entries of all servers in one list. */
export const maxListBytes = 4 * 1024 * 1024;
/** Maximum characters of the URI of a resource, or of a URI template. */
const maxUriLength = 2_048;

/** The type of the entries of each list, by the field of the answer that contains the list. */
export interface ContentEntries {
  prompts: Prompt;
  resources: Resource;
  resourceTemplates: ResourceTemplateType;
}

export type ContentList = keyof ContentEntries;

/** The method that requests each list, and the kind of content that servers with the list announce. */
export const listRequests = {
  prompts: { method: 'prompts/list', kind: 'prompts' },
  resources: { method: 'resources/list', kind: 'resources' },
  resourceTemplates: { method: 'resources/templates/list', kind: 'resources' },
} as const satisfies Record<ContentList, { method: ContentMethod; kind: ContentKind }>;

/** An entry, and the number of bytes that it counts as. */
export interface SizedEntry<Entry> {
  entry: Entry;
  bytes: number;
}

/**
 * Reads a server's answer to a request for a list. Leaves out entries that MCP clients reject, because a client rejects a whole list for
 * one such entry. Leaves out entries that are too large, have a name or URI that is not one line, or repeat the name or URI of an earlier
 * entry.
 */
export function readEntries<List extends ContentList>(
  list: List,
  answer: JsonObject,
): SizedEntry<ContentEntries[List]>[] {
  const { [list]: listed } = answer;
  if (!Array.isArray(listed)) return [];
  const entries = new Map<string, SizedEntry<ContentEntries[List]>>();
  let bytesLeft = maxServerBytes;
  for (const each of listed.slice(0, maxEntries)) {
    const read = nestsTooDeeply(each) ? undefined : readers[list](each);
    if (!read) continue;
    const [key, entry] = read;
    const bytes = Math.max(minEntryBytes, Buffer.byteLength(JSON.stringify(entry)));
    if (bytes > Math.min(maxEntryBytes, bytesLeft) || entries.has(key)) continue;
    bytesLeft -= bytes;
    entries.set(key, { entry, bytes });
  }
  return [...entries.values()];
}

/**
 * Joins the lists of servers. If they are too large together, the largest lists lose their last entries, so that no server takes the room
 * of others.
 */
export function joinLists<Entry>(lists: readonly (readonly SizedEntry<Entry>[])[]): SizedEntry<Entry>[] {
  const bySize = lists.map((entries, at) => ({ at, entries, bytes: countBytes(entries) }));
  bySize.sort((a, b) => a.bytes - b.bytes);
  const shares: number[] = [];
  let bytesLeft = maxListBytes;
  for (const [place, { at, bytes }] of bySize.entries()) {
    const share = Math.min(bytes, Math.floor(bytesLeft / (bySize.length - place)));
    shares[at] = share;
    bytesLeft -= share;
  }
  return lists.flatMap((entries, at) => {
    let left = shares[at] ?? 0;
    return entries.filter(({ bytes }) => (left -= bytes) >= 0);
  });
}

export function countBytes(entries: readonly SizedEntry<unknown>[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Functions that read an entry and the text that identifies it; undefined if the entry is not valid. Titles, and the names of resources,
 * are texts for people and are cut. Everything else stays as the server sent it.
 */
const readers: { [List in ContentList]: (value: Json) => [string, ContentEntries[List]] | undefined } = {
  prompts: (value) =>
    isSpecType.Prompt(value) && announcedName.safeParse(value.name).success ? [value.name, cutTitle(value)] : undefined,
  resources: (value) => (isSpecType.Resource(value) && isAddress(value.uri) ? [value.uri, cutName(value)] : undefined),
  resourceTemplates: (value) =>
    isSpecType.ResourceTemplate(value) && isAddress(value.uriTemplate)
      ? [value.uriTemplate, cutName(value)]
      : undefined,
};

const shownName = announcedText(256);
const shownTitle = announcedText(200);

function cutTitle<Entry extends { title?: string | undefined }>(entry: Entry): Entry {
  return entry.title === undefined ? entry : { ...entry, title: shownTitle.parse(entry.title) };
}

function cutName<Entry extends { name: string; title?: string | undefined }>(entry: Entry): Entry {
  return { ...cutTitle(entry), name: shownName.parse(entry.name) };
}

function isAddress(uri: string): boolean {
  return uri.length <= maxUriLength && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(uri);
}

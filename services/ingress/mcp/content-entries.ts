import { isSpecType, type Prompt, type Resource, type ResourceTemplateType } from '@modelcontextprotocol/server';
import { announcedName, announcedText } from '#shared/broker/contract/announced-text.ts';
import type { ContentKind, ContentMethod } from '#shared/broker/contract/server-content.ts';
import { nestsTooDeeply, type Json, type JsonObject } from '#shared/core/json.ts';

/** Maximum entries of a server in one list; further ones are left out. */
const maxEntries = 1_000;
/** Maximum bytes of one entry as JSON. */
const maxEntryBytes = 64 * 1024;
/** Minimum bytes as which an entry counts, because the smallest takes as long to handle. */
const minEntryBytes = 128;
/** Maximum bytes of a server's entries in one list. */
const maxServerBytes = 512 * 1024;
/** Maximum bytes of the entries of all servers in one list. */
const maxListBytes = 4 * 1024 * 1024;
/** Maximum characters of the address of a resource, or of a template of addresses. */
const maxUriLength = 2_048;

/** The entries of lists, by the field of an answer that contains them. */
export interface ContentEntries {
  prompts: Prompt;
  resources: Resource;
  resourceTemplates: ResourceTemplateType;
}

export type ContentList = keyof ContentEntries;

/** How each list is requested of a server, and the kind of content of servers that have the list. */
export const listRequests = {
  prompts: { method: 'prompts/list', kind: 'prompts' },
  resources: { method: 'resources/list', kind: 'resources' },
  resourceTemplates: { method: 'resources/templates/list', kind: 'resources' },
} as const satisfies Record<ContentList, { method: ContentMethod; kind: ContentKind }>;

/** An entry, and the size as which it counts. */
export interface SizedEntry<Entry> {
  entry: Entry;
  bytes: number;
}

/**
 * Reads a server's answer to a request for a list. Entries that MCP clients do not accept are left out, because a client refuses a whole
 * list for one of them, and so are entries that are too large, and those whose name or address is not one line or is there already.
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
 * Joins the lists of servers. If all of them are too large together, the largest lose their last entries, so that no server takes the place
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
 * Reads an entry and the text by which programs name it; undefined if the entry is not valid. Besides titles, and the names of resources,
 * which are texts for people, an entry stays as the server sent it.
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

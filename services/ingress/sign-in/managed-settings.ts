import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';

/**
 * Creates the handler that sends a coding agent (Claude Code) the settings that its administrator manages: `{ uuid, checksum, settings }`.
 * The ETag is the checksum, so that an agent with the same settings gets 304. The checksum is the SHA-256 of the JSON with sorted keys and
 * without whitespace, as Claude Code 2.1.330 computes it for its own copy.
 * @param findSettings returns the settings for the person of a request
 */
export function answerManagedSettings(
  findSettings: (response: Parameters<RequestHandler>[1]) => object,
): RequestHandler {
  return (request, response) => {
    const settings = findSettings(response);
    const digest = hash('sha256', JSON.stringify(sortKeys(settings)), 'hex');
    const checksum = `sha256:${digest}`;
    response.set({ etag: `"${checksum}"`, 'cache-control': 'private, no-cache' });
    if (request.get('if-none-match')?.includes(`"${checksum}"`)) return void response.status(304).end();
    response.json({ uuid: deriveUuid(digest), checksum, settings });
  };
}

/** Derives the id from the digest, so that the same settings have the same id on every ingress. */
function deriveUuid(digest: string): string {
  return [8, 4, 4, 4, 12]
    .map((length, index, lengths) => {
      const start = lengths.slice(0, index).reduce((sum, each) => sum + each, 0);
      return digest.slice(start, start + length);
    })
    .join('-');
}

/** Returns a copy of the value with the keys of all objects in order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sortKeys(each)]));
}

import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';

/**
 * Answers the settings of a program as `{ uuid, checksum, settings }`, with the checksum as the ETag: 304 for those that the program has.
 * @param settingsOf the settings for the person of a request
 */
export function answerManagedSettings(settingsOf: (response: Parameters<RequestHandler>[1]) => object): RequestHandler {
  return (request, response) => {
    const settings = settingsOf(response);
    const checksum = hash('sha256', JSON.stringify(settings), 'hex');
    response.set({ etag: `"${checksum}"`, 'cache-control': 'private, no-cache' });
    // As an ETag, weak or not, or as the bare checksum.
    if (request.get('if-none-match')?.includes(checksum)) return void response.status(304).end();
    response.json({ uuid: uuidOf(checksum), checksum, settings });
  };
}

/** The same settings have the same id, on every ingress. */
function uuidOf(checksum: string): string {
  return [8, 4, 4, 4, 12]
    .map((length, index, lengths) => {
      const start = lengths.slice(0, index).reduce((sum, each) => sum + each, 0);
      return checksum.slice(start, start + length);
    })
    .join('-');
}

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '#shared/core/json.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { ReadRequest } from './read-request.ts';

export interface WrittenRequest {
  body: Buffer[];
  /** Headers that the body needs. */
  headers: Readonly<Record<string, string>> | undefined;
}

/** Writes a translated request as JSON, or with the encoder of its format. */
export function writeRequest(
  { encode }: Pick<HttpUpstreamFormat, 'encode'>,
  request: JsonObject,
  write: ReadRequest['write'],
): WrittenRequest {
  if (!encode) return { body: write(request), headers: undefined };
  const { body, contentType } = encode(request, `rtr-${randomUUID()}`);
  return { body, headers: { 'content-type': contentType } };
}

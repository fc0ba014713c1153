import { randomUUID } from 'node:crypto';
import type { JsonObject } from '#shared/core/json.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { ParsedRequest } from './read-request.ts';

export interface WrittenRequest {
  body: Buffer[];
  /** Headers that the body needs. */
  headers: Readonly<Record<string, string>> | undefined;
}

/** Writes a translated request as JSON, or with the encoder of its format. */
export function writeRequest(
  { encode }: Pick<HttpUpstreamFormat, 'encode'>,
  request: JsonObject,
  write: ParsedRequest['write'],
): WrittenRequest {
  if (!encode) return { body: write(request), headers: undefined };
  const { body, contentType } = encode(request, `rtr-${randomUUID()}`);
  return { body, headers: { 'content-type': contentType } };
}

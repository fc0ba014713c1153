import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';

const folder = join(import.meta.dirname, '../../fixtures/clients');

/** One request that a real program sent, see `test/fixtures/clients/SOURCE.md`. */
export interface RecordedRequest {
  path: string;
  headers: Record<string, string>;
  body: object;
}

/** The recorded requests of a program, by case. */
export function recordedRequests(program: string): Map<string, RecordedRequest> {
  const lines = readFileSync(join(folder, `${program}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return new Map(
    lines.map((line) => {
      const { case: name, ...request } = JSON.parse(line) as RecordedRequest & { case: string };
      return [name, request];
    }),
  );
}

/** What an ingress reads of the body; undefined for a path that no format has. */
export function parametersOf({ path, body }: RecordedRequest): RequestParameters | undefined {
  const { pathname } = new URL(path, 'http://router');
  for (const format of clientFormats) {
    for (const { path: ending, operation } of format.routes) {
      if (pathname.endsWith(ending)) return format.read(Buffer.from(JSON.stringify(body)), operation).parameters;
    }
  }
  return undefined;
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import { detectPurpose } from '#services/ingress/routing/purpose/detect-purpose.ts';

const folder = join(import.meta.dirname, '../../fixtures/clients');

/** One request of a real program, see `test/fixtures/clients/SOURCE.md`. */
export interface RecordedRequest {
  path: string;
  headers: Record<string, string>;
  body: object;
}

/** Returns the recorded requests of a program, by case. */
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

/** Returns the parameters that an ingress reads from the body; undefined for a path without a format. */
export function parametersOf({ path, body }: RecordedRequest): RequestParameters | undefined {
  const { pathname } = new URL(path, 'http://router');
  for (const format of clientFormats) {
    for (const { path: ending, operation } of format.routes) {
      if (pathname.endsWith(ending)) return format.read(Buffer.from(JSON.stringify(body)), operation).parameters;
    }
  }
  return undefined;
}

/** Returns what an ingress finds that a recorded request is for. */
export function purposeOf(request: RecordedRequest | undefined): Omit<ReturnType<typeof detectPurpose>, 'turn'> {
  if (!request) throw new Error('no such recording');
  const { turn: _, ...purpose } = detectPurpose(request.headers, parametersOf(request)?.signs);
  return purpose;
}

import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { isJsonObject, type Json } from '#shared/core/json.ts';
import { serveHttp } from '../servers/serve-http.ts';

/** One answer of an engine, as in the `index.json` of a fixture folder. */
export interface Exchange {
  name: string;
  method: 'GET' | 'POST';
  path: string;
  /** Content that the request must have for this answer, at any depth. The first exchange that fits answers. */
  when?: Json;
  status: number;
  headers: Record<string, string>;
  file: string;
}

export interface ReplayEngine {
  url: string;
  /** Bodies of the received chat requests, in order. */
  requests: Json[];
  /** All received requests, in order. */
  seen: { path: string; headers: IncomingHttpHeaders; body: Json }[];
  stop(): Promise<void>;
}

/** Starts an engine that answers with the bytes of a fixture folder, each body in pieces of 700 bytes; 404 to anything else. */
export async function startReplayEngine(folder: string): Promise<ReplayEngine> {
  const index: Exchange[] = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  const requests: Json[] = [];
  const seen: ReplayEngine['seen'] = [];
  const { url, stop } = await serveHttp(answer);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await text(request);
    // Forms come only as probes of a path.
    const isForm = request.headers['content-type']?.startsWith('multipart/') === true;
    const body: Json = asked === '' || isForm ? null : JSON.parse(asked);
    seen.push({ path: request.url ?? '', headers: request.headers, body });
    if (request.url === '/v1/chat/completions') requests.push(body);
    // A server of one model ignores it.
    const plainPath = request.url?.replace('?autoload=false', '');
    const exchange = index.find(
      ({ method, path, when = null }) => method === request.method && path === plainPath && contains(body, when),
    );
    response.writeHead(exchange?.status ?? 404, exchange?.headers ?? { 'content-type': 'application/json' });
    const bytes = exchange ? readFileSync(join(folder, exchange.file)) : Buffer.from('{"error":"no such page"}');
    for (let at = 0; at < bytes.length; at += 700) {
      response.write(bytes.subarray(at, at + 700));
      await turn();
    }
    response.end();
  }

  return { url, requests, seen, stop };
}

/** Whether a value contains another, at any depth; lists are compared item by item from the first. */
function contains(value: Json | undefined, part: Json | undefined): boolean {
  if (part === null) return true;
  if (Array.isArray(part)) return Array.isArray(value) && part.every((item, index) => contains(value[index], item));
  if (isJsonObject(part)) {
    return isJsonObject(value) && Object.entries(part).every(([name, item]) => contains(value[name], item));
  }
  return value === part;
}

import { createParser } from 'eventsource-parser';
import type { JsonObject } from '#shared/core/json.ts';
import { createCsrfHeaders, fetchSameOrigin, readFailure } from '../../api/call-api.ts';
import type { Piece } from '../../formats/conversation.ts';
import type { ServedFormat } from '../../formats/web-formats.ts';

/**
 * Sends a request to the API that clients use, signed in by the session. Calls `onPieces` with the pieces of the answer as they arrive. A
 * failed answer gives a piece of the kind `error` instead of a rejected promise. The promise resolves at the end of the answer.
 * @throws ApiFailure when the router cannot be reached, TypeError when the connection breaks, or DOMException when `signal` is aborted
 */
export async function askModel(
  { base, path, headers, openReader }: ServedFormat,
  body: JsonObject,
  onPieces: (pieces: Piece[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  const response = await fetchSameOrigin(`${base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...createCsrfHeaders(), ...headers },
    body: JSON.stringify(body),
    signal,
  });
  onPieces([{ kind: 'served', served: readFacts(response.headers) }]);
  if (!response.ok) {
    onPieces([{ kind: 'error', message: (await readFailure(response)).message }]);
    return;
  }
  const readEvent = openReader();
  let hasFirstToken = false;
  let hasEnd = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      const pieces = readEvent(data);
      hasEnd ||= pieces.some(({ kind }) => kind === 'end' || kind === 'error');
      if (!hasFirstToken && pieces.some(({ kind }) => kind === 'text' || kind === 'thinking' || kind === 'tool')) {
        hasFirstToken = true;
        pieces.push({ kind: 'served', served: { firstTokenMs: performance.now() - startedAt } });
      }
      onPieces(pieces);
    },
  });
  try {
    await readText(response, (text) => parser.feed(text));
  } finally {
    onPieces([{ kind: 'served', served: { totalMs: performance.now() - startedAt } }]);
  }
  if (!hasEnd) {
    onPieces([{ kind: 'error', message: 'The connection was lost in the middle of the answer. Try again.' }]);
  }
}

async function readText({ body }: Response, onText: (text: string) => void): Promise<void> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onText(value);
  }
}

function readFacts(headers: Headers): Record<string, string> {
  const headerNames = {
    tier: 'x-rtr-tier',
    worker: 'x-rtr-worker',
    attempts: 'x-rtr-attempts',
    queueMs: 'x-rtr-queue-ms',
    requestId: 'x-request-id',
  };
  return Object.fromEntries(
    Object.entries(headerNames).flatMap(([field, name]) => {
      const value = headers.get(name);
      return value === null ? [] : [[field, value]];
    }),
  );
}

/** Milliseconds for which pieces are collected before they are rendered together. Nobody would notice more frequent renderings. */
const collectMs = 40;

export interface PieceCollector {
  add: (pieces: Piece[]) => void;
  /** Calls `onPieces` at once with the pieces collected so far. */
  flush: () => void;
}

/** Collects the pieces of an answer, and calls `onPieces` with all pieces of the last `collectMs` milliseconds together. */
export function collectPieces(onPieces: (pieces: Piece[]) => void): PieceCollector {
  let collected: Piece[] = [];
  let timer: number | undefined;
  const flush = (): void => {
    window.clearTimeout(timer);
    timer = undefined;
    const pieces = collected;
    collected = [];
    if (pieces.length > 0) onPieces(pieces);
  };
  return {
    add: (pieces) => {
      collected.push(...pieces);
      timer ??= window.setTimeout(flush, collectMs);
    },
    flush,
  };
}

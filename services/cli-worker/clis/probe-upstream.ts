import type { JsonObject } from '#shared/core/json.ts';
import type { CliSession } from './cli.ts';
import { startLocalUpstream } from './local-upstream.ts';

/** Maximum milliseconds for the question and its answer. */
const askMs = 10_000;

/** A PNG of one pixel, in base64. */
export const probeImage =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/**
 * Starts a local upstream that gives every request the same answer, and asks a CLI that sends its requests there one question. This costs
 * no tokens.
 * @param events events of the answer; if an event has a type, that is also its name in the stream
 * @param start starts a process that sends requests to the upstream at an address
 * @returns the body of the last request, and the pieces of the CLI's answer
 */
export async function probeUpstream<Request, Piece>(
  events: readonly JsonObject[],
  start: (url: string) => Promise<CliSession<Request, Piece>>,
  question: Request,
  signal: AbortSignal,
): Promise<{ request: JsonObject; pieces: readonly Piece[] }> {
  const answer = events.map(writeEvent).join('');
  const upstream = await startLocalUpstream(() => answer);
  const pieces: Piece[] = [];
  try {
    const session = await start(upstream.url);
    try {
      const abortOrTimeout = AbortSignal.any([signal, AbortSignal.timeout(askMs)]);
      const onPiece = (piece: Piece): void => void pieces.push(piece);
      await session.process.killOnFailure(abortOrTimeout, () => session.converse(question, onPiece, abortOrTimeout));
    } finally {
      await session.process.end();
    }
  } finally {
    upstream.close();
  }
  return { request: upstream.lastRequest(), pieces };
}

function writeEvent(event: JsonObject): string {
  const { type } = event;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}

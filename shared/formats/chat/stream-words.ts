import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { dataEvent } from '../sse/encode.ts';
import type { RelayedEvents, StreamWords } from '../sse/streamed-answer.ts';
import { openaiErrorBody } from '../openai/error.ts';
import type { RouterError } from '#shared/core/errors.ts';

/** Ends every complete stream. */
export const chatDone = dataEvent('[DONE]');

/** What the router adds to a stream of chunks. A keep-alive is a comment, because clients read any event as a chunk. */
export const chatStreamWords: StreamWords = {
  keepAlive: ': keep-alive\n\n',
  errorEvent: chatErrorEvent,
  tokensIn: chatTokensIn,
};

/** Bytes of `"role":"assistant",`, which only the first chunk has. */
const roleBytes = 19;

/** Tokens of the relayed part of a stream, estimated from the number of chunks and their bytes. */
export function chatTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const chunks = Math.max(0, events - 1);
  const emptyBytes = Math.max(0, firstEventBytes - roleBytes);
  return estimateTokensOfPieces(chunks, bytes - firstEventBytes - chunks * emptyBytes);
}

/** The event that ends a stream that failed midway. It has no name, because clients read a named one as a chunk. */
export function chatErrorEvent(error: RouterError): string {
  return dataEvent(JSON.stringify(openaiErrorBody(error)));
}

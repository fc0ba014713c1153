import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { dataEvent } from '../sse/encode.ts';
import type { RelayedEvents, StreamWords } from '../sse/streamed-answer.ts';
import { chatErrorEvent } from './error.ts';

/** Ends every complete stream. */
export const chatDone = dataEvent('[DONE]');

/** What the router adds to a stream of chunks. A keep-alive is a comment, because clients take any event for a chunk. */
export const chatStreamWords: StreamWords = {
  keepAlive: ': keep-alive\n\n',
  errorEvent: chatErrorEvent,
  tokensIn: chatTokensIn,
};

/** Bytes of the first chunk's role, `"role":"assistant",`, which later chunks lack. */
const roleBytes = 19;

/** Tokens in the relayed part of a stream, estimated from its chunks and their bytes. */
export function chatTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const chunks = Math.max(0, events - 1);
  const emptyBytes = Math.max(0, firstEventBytes - roleBytes);
  return estimateTokensOfPieces(chunks, bytes - firstEventBytes - chunks * emptyBytes);
}

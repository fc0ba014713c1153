import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { namedEvent } from '../sse/encode.ts';
import type { RelayedEvents, StreamWords } from '../sse/streamed-answer.ts';
import { messagesErrorEvent } from './error.ts';

/** What the router adds to a stream of events. */
export const messagesStreamWords: StreamWords = {
  keepAlive: namedEvent('ping', '{"type":"ping"}'),
  errorEvent: messagesErrorEvent,
  tokensIn: messagesTokensIn,
  emptyBytes: () => deltaBytes,
};

/** Events before the first text that have more bytes than an empty delta: `message_start`, `content_block_start`. */
const headEvents = 2;

/** Bytes of `content_block_start`. */
const blockStartBytes = 117;

/** Bytes of a `content_block_delta` event without its text. */
const deltaBytes = 115;

/** Tokens of the relayed part of a stream, estimated from the number of events and their bytes. */
function messagesTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const deltas = Math.max(0, events - headEvents);
  return estimateTokensOfPieces(deltas, bytes - firstEventBytes - blockStartBytes - deltas * deltaBytes);
}

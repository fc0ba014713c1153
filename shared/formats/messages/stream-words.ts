import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { namedEvent } from '../sse/encode.ts';
import type { RelayedEvents, StreamWords } from '../sse/streamed-answer.ts';
import { messagesErrorEvent } from './error.ts';

/** What the router adds to a stream of events. */
export const messagesStreamWords: StreamWords = {
  keepAlive: namedEvent('ping', '{"type":"ping"}'),
  errorEvent: messagesErrorEvent,
  tokensIn: messagesTokensIn,
};

/** Events before the first text: `message_start`, `ping`, `content_block_start`. */
const headEvents = 3;

/** Bytes of the second and third head event. */
const restOfHeadBytes = 152;

/** Bytes of a `content_block_delta` event without its text. */
const deltaBytes = 115;

/** Tokens of the relayed part of a stream, estimated from the number of events and their bytes. */
export function messagesTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const deltas = Math.max(0, events - headEvents);
  return estimateTokensOfPieces(deltas, bytes - firstEventBytes - restOfHeadBytes - deltas * deltaBytes);
}

import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import { writeNamedEvent } from '../sse/encode.ts';
import type { RelayedEventCounter, StreamAdditions } from '../sse/streamed-answer.ts';
import { writeMessagesErrorEvent } from './error.ts';

export const messagesStreamAdditions: StreamAdditions = {
  keepAlive: writeNamedEvent('ping', '{"type":"ping"}'),
  errorEvent: writeMessagesErrorEvent,
  estimateTokens: estimateMessagesTokens,
  emptyBytes: () => deltaBytes,
};

/** Number of events before the first text: `message_start` and `content_block_start`. Both are larger than an empty delta. */
const headEvents = 2;

const blockStartBytes = 117;

/** Bytes of a `content_block_delta` event without its text. */
const deltaBytes = 115;

/** Estimates the tokens of the relayed part of a stream from the number of events and their bytes. */
function estimateMessagesTokens({ events, bytes, firstEventBytes }: RelayedEventCounter): number {
  const deltas = Math.max(0, events - headEvents);
  return estimateTokensOfPieces(deltas, bytes - firstEventBytes - blockStartBytes - deltas * deltaBytes);
}

import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import type { RelayedEvents } from '../sse/relayed-events.ts';

/** Events before the first text: `message_start`, `ping`, `content_block_start`. */
const headEvents = 3;

/** Bytes of the second and third of them. */
const restOfHeadBytes = 152;

/** Bytes of a `content_block_delta` event without its text. */
const deltaBytes = 115;

/** About how many tokens a part of a messages stream has. */
export function messagesTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const deltas = Math.max(0, events - headEvents);
  return estimateTokensOfPieces(deltas, bytes - firstEventBytes - restOfHeadBytes - deltas * deltaBytes);
}

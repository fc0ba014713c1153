import { estimateTokensOfBytes } from '#shared/protocol/estimate-tokens.ts';
import type { RelayedEvents } from '#shared/protocol/sse/relayed-events.ts';

/** Bytes of a `content_block_delta` event without its text. */
const deltaBytes = 122;

/** Events before the first text: `message_start`, `ping`, `content_block_start`. */
const headEvents = 3;

/** Bytes of the second and third of them. */
const restOfHeadBytes = 160;

/** About how many tokens a part of a messages stream has: one for each delta, or more where their texts are longer. */
export function messagesTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const deltas = Math.max(0, events - headEvents);
  const textBytes = bytes - firstEventBytes - restOfHeadBytes - deltas * deltaBytes;
  return Math.max(deltas, estimateTokensOfBytes(Math.max(0, textBytes)));
}

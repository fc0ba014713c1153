import { estimateTokensOfBytes } from '#shared/protocol/estimate-tokens.ts';
import type { RelayedEvents } from '#shared/protocol/sse/relayed-events.ts';

/** What the first chunk, which tells the role, has more than an empty one: `"role":"assistant",`. */
const roleBytes = 19;

/** About how many tokens a part of a stream of chat chunks has: one for each chunk, or more where their texts are longer. */
export function chatTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const chunks = Math.max(0, events - 1);
  const textBytes = bytes - firstEventBytes - chunks * Math.max(0, firstEventBytes - roleBytes);
  return Math.max(chunks, estimateTokensOfBytes(Math.max(0, textBytes)));
}

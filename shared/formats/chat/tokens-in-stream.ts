import { estimateTokensOfPieces } from '../estimate-tokens.ts';
import type { RelayedEvents } from '../sse/relayed-events.ts';

/** What the first chunk, which tells the role, has more than an empty one: `"role":"assistant",`. */
const roleBytes = 19;

/** About how many tokens a part of a stream of chat chunks has. */
export function chatTokensIn({ events, bytes, firstEventBytes }: RelayedEvents): number {
  const chunks = Math.max(0, events - 1);
  const emptyBytes = Math.max(0, firstEventBytes - roleBytes);
  return estimateTokensOfPieces(chunks, bytes - firstEventBytes - chunks * emptyBytes);
}

import type { EventKind } from '../../upstream-format.ts';

const finishReason = /"finish_reason"\s*:\s*"/;

/** See `HttpUpstreamFormat.kindOfEvent`. */
export function kindOfChatEvent(data: string): EventKind {
  if (data === '[DONE]') return 'last';
  return finishReason.test(data) ? 'finish' : 'answer';
}

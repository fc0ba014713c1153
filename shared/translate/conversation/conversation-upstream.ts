import type { UpstreamFormat } from '../upstream-format.ts';

/** What drives a command-line agent: it is asked a `Conversation`, and its answer is written as chat completions. */
export const conversationUpstream: UpstreamFormat = { name: 'conversation' };

import { chatToChat } from './chat-to-chat.ts';
import type { Pair } from './pair.ts';

/** The families that models are asked in. */
export type ModelFamily = 'chat' | 'messages';

/** The translator for a client of one family on an upstream of another, or of the same. */
export function pairFor(client: ModelFamily, upstream: ModelFamily): Pair {
  if (client === 'chat' && upstream === 'chat') return chatToChat;
  throw new Error(`no translator from ${client} to ${upstream} yet`);
}

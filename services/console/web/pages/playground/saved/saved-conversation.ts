import type { ConversationSettings, Turn } from '../../../formats/conversation.ts';

/** A saved conversation without its turns. */
export interface SavedHead {
  id: string;
  name: string;
  /** The time of the last message, in milliseconds since 1970. */
  at: number;
  /** The length of the content as JSON, in characters. */
  size: number;
  /** The number of times that the conversation was saved under its id. The next save must state this number. */
  revision: number;
}

/** The settings of a conversation that its sides share. */
export type SharedSettings = Omit<ConversationSettings, 'model'>;

export interface SavedContent {
  format: string;
  settings: SharedSettings;
  /** The text in which the person has described tools. */
  ownTools: string;
  /** One side, or two sides if two models are compared. */
  sides: { model: string; turns: readonly Turn[] }[];
}

/** Bounds of a person's conversations in one browser; `size` is in characters. Beyond them, the oldest conversations are deleted. */
export const keptBounds = { count: 100, size: 50_000_000, days: 90 };

/** Maximum length of one saved conversation as JSON, in characters. */
export const maxConversationCharacters = 20_000_000;

const dayMs = 86_400_000;

/**
 * Returns the ids of the conversations beyond the bounds.
 * @param openId the id of a conversation that is never among them
 */
export function findIdsBeyondBounds(heads: readonly SavedHead[], now: number, openId?: string): string[] {
  let [count, size] = [0, 0];
  const newestFirst = [...heads].sort((a, b) => Number(b.id === openId) - Number(a.id === openId) || b.at - a.at);
  return newestFirst.flatMap((head) => {
    count += 1;
    size += head.size;
    const isOld = now - head.at > keptBounds.days * dayMs;
    const isBeyond = count > keptBounds.count || size > keptBounds.size;
    return head.id !== openId && (isOld || isBeyond) ? [head.id] : [];
  });
}

/** Maximum length of the name of a conversation, in characters. */
export const maxNameCharacters = 60;

/** Creates the name of a new saved conversation from the beginning of its first message. */
export function createName({ sides }: SavedContent): string {
  const firstMessage = sides[0]?.turns.find(({ role }) => role === 'user');
  const words = firstMessage?.role === 'user' ? firstMessage.text.trim().replaceAll(/\s+/g, ' ') : '';
  if (words === '') return 'A picture';
  const characters = Array.from(words);
  return characters.length <= maxNameCharacters ? words : `${characters.slice(0, maxNameCharacters - 1).join('')}…`;
}

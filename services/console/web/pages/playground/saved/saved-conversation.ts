import type { Settings, Turn } from '../../../formats/conversation.ts';

/** A saved conversation without its turns. */
export interface SavedHead {
  id: string;
  name: string;
  /** Milliseconds since 1970: when something was said last. */
  at: number;
  /** Characters of its turns, as JSON. */
  size: number;
  /** How often it was saved: who saves it again must have seen that one. */
  revision: number;
}

/** The settings of a conversation that its sides share. */
export type SharedSettings = Omit<Settings, 'model'>;

/** What a saved conversation holds. */
export interface SavedContent {
  format: string;
  settings: SharedSettings;
  /** The tools of one's own, as they were written. */
  ownTools: string;
  /** One, or two side by side. */
  sides: { model: string; turns: readonly Turn[] }[];
}

/** What is kept for one person in one browser. Beyond it the oldest go. */
export const keptBounds = { count: 100, size: 50_000_000, days: 90 };

/** The most characters of one conversation that is kept. */
export const mostOfOne = 20_000_000;

const dayMs = 86_400_000;

/**
 * The ids of the conversations that go.
 * @param kept one that stays in any case
 */
export function surplus(heads: readonly SavedHead[], now: number, kept?: string): string[] {
  let [count, size] = [0, 0];
  const newestFirst = [...heads].sort((a, b) => Number(b.id === kept) - Number(a.id === kept) || b.at - a.at);
  return newestFirst.flatMap((head) => {
    count += 1;
    size += head.size;
    const isOld = now - head.at > keptBounds.days * dayMs;
    const isBeyond = count > keptBounds.count || size > keptBounds.size;
    return head.id !== kept && (isOld || isBeyond) ? [head.id] : [];
  });
}

/** Characters of a name. */
export const mostOfName = 60;

/** A name for a conversation: its first words. */
export function nameOf({ sides }: SavedContent): string {
  const first = sides[0]?.turns.find(({ role }) => role === 'user');
  const words = first?.role === 'user' ? first.text.trim().replaceAll(/\s+/g, ' ') : '';
  if (words === '') return 'A picture';
  const characters = Array.from(words);
  return characters.length <= mostOfName ? words : `${characters.slice(0, mostOfName - 1).join('')}…`;
}

import { useEffect, useRef, useState } from 'react';
import type { Turn } from '../../../formats/conversation.ts';
import { newConversationId } from './conversation-store.ts';
import type { SavedContent, SavedHead } from './saved-conversation.ts';
import type { Conversations } from './use-conversations.ts';

/** Milliseconds between two saves while an answer grows. */
const everyMs = 1_000;

export interface AutosaveOptions {
  conversations: Conversations;
  content: SavedContent;
  /** The number of requests that were sent so far. */
  requestCount: number;
  isRunning: boolean;
  /** Called with the id under which the shown conversation is saved. */
  onSaved: (id: string) => void;
}

interface Shown {
  id: string;
  revision: number;
  sides: readonly (readonly Turn[])[];
  asked: number;
}

export interface Autosave {
  /** Whether the whole shown conversation is saved. */
  isSaved: boolean;
  /**
   * To be called when another conversation is shown.
   * @param head undefined for a new conversation
   */
  show: (head: SavedHead | undefined, sides: SavedContent['sides']) => void;
}

export function useAutosave(options: AutosaveOptions): Autosave {
  const [savedSides, setSavedSides] = useState<readonly (readonly Turn[])[]>([]);
  const shown = useRef<Shown>(undefined);
  const latest = useRef(options);
  const timer = useRef<number>(undefined);
  const queue = useRef<Promise<void>>(Promise.resolve());

  const save = async (mine: Shown, { conversations, content, requestCount }: AutosaveOptions): Promise<void> => {
    const sides = content.sides.map(({ turns }) => turns);
    if (areSame(sides, mine.sides)) return;
    const wanted = { id: mine.id, revision: mine.revision, content, hasSaid: requestCount !== mine.asked };
    Object.assign(mine, { sides, asked: requestCount });
    const head = await conversations.use((store) => store.save(wanted));
    if (!head) return;
    Object.assign(mine, { id: head.id, revision: head.revision });
    if (shown.current !== mine) return;
    setSavedSides(sides);
    latest.current.onSaved(head.id);
  };
  const saveSoon = (mine: Shown): void => {
    window.clearTimeout(timer.current);
    timer.current = undefined;
    const now = latest.current;
    queue.current = queue.current.then(() => save(mine, now));
  };

  useEffect(() => {
    latest.current = options;
    const { content, requestCount, isRunning } = options;
    if (content.sides.every(({ turns }) => turns.length === 0)) return;
    shown.current ??= { id: newConversationId(), revision: 0, sides: [], asked: 0 };
    const mine = shown.current;
    if (!isRunning || requestCount !== mine.asked) saveSoon(mine);
    else timer.current ??= window.setTimeout(() => saveSoon(mine), everyMs);
  });
  useEffect(
    () => () => {
      window.clearTimeout(timer.current);
      shown.current = undefined;
    },
    [],
  );

  return {
    isSaved: areSame(
      options.content.sides.map(({ turns }) => turns),
      savedSides,
    ),
    show: (head, sides) => {
      if (shown.current) saveSoon(shown.current);
      const { requestCount } = latest.current;
      const turns = sides.map((side) => side.turns);
      shown.current = head && { id: head.id, revision: head.revision, sides: turns, asked: requestCount };
      setSavedSides(turns);
    },
  };
}

function areSame(some: readonly (readonly Turn[])[], others: readonly (readonly Turn[])[]): boolean {
  return some.length === others.length && some.every((turns, index) => turns === others[index]);
}

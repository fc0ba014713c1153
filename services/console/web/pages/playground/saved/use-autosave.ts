import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Turn } from '../../../formats/conversation.ts';
import { createConversationId } from './conversation-store.ts';
import type { SavedContent, SavedHead } from './saved-conversation.ts';
import type { Conversations } from './use-conversations.ts';

/** Milliseconds between two saves while an answer grows. */
const saveEveryMs = 1_000;

export interface AutosaveOptions {
  conversations: Conversations;
  content: SavedContent;
  /** The number of requests that the person has sent so far. */
  requestCount: number;
  isRunning: boolean;
  /** Called with the id under which the shown conversation is saved. */
  onSaved: (id: string) => void;
}

/** The state of the shown conversation at its last save. */
interface ShownConversation {
  id: string;
  revision: number;
  savedSides: readonly (readonly Turn[])[];
  /** The value of `requestCount` at the last save. */
  savedRequestCount: number;
  /** The value of `requestCount` when a save was last begun, which may have failed. */
  begunRequestCount: number;
}

export interface Autosave {
  /** Whether the whole shown conversation is saved. */
  isSaved: boolean;
  /**
   * Must be called when another conversation is shown.
   * @param head undefined for a new conversation
   */
  show: (head: SavedHead | undefined, sides: SavedContent['sides']) => void;
}

/** Saves the shown conversation after each change of its turns, but at most once a second while an answer grows. */
export function useAutosave(options: AutosaveOptions): Autosave {
  const [savedSides, setSavedSides] = useState<readonly (readonly Turn[])[]>([]);
  const shownConversation = useRef<ShownConversation>(undefined);
  const latestOptions = useRef(options);
  const timer = useRef<number>(undefined);

  const save = (conversation: ShownConversation): void => {
    window.clearTimeout(timer.current);
    timer.current = undefined;
    const { conversations, content, requestCount } = latestOptions.current;
    const sides = content.sides.map(({ turns }) => turns);
    if (haveSameTurns(sides, conversation.savedSides)) return;
    conversation.begunRequestCount = requestCount;
    void conversations.runInStore(async (store) => {
      // A save that began earlier may have saved these turns.
      if (haveSameTurns(sides, conversation.savedSides)) return;
      const { id, revision, savedRequestCount } = conversation;
      const hasNewMessage = requestCount !== savedRequestCount;
      const head = await store.save({ id, revision, content, hasNewMessage });
      Object.assign(conversation, { savedSides: sides, savedRequestCount: requestCount });
      if (!head) return;
      Object.assign(conversation, { id: head.id, revision: head.revision });
      if (shownConversation.current !== conversation) return;
      setSavedSides(sides);
      latestOptions.current.onSaved(head.id);
    });
  };

  useEffect(() => {
    latestOptions.current = options;
    const { content, requestCount, isRunning } = options;
    if (content.sides.every(({ turns }) => turns.length === 0)) return;
    shownConversation.current ??= {
      id: createConversationId(),
      revision: 0,
      savedSides: [],
      savedRequestCount: 0,
      begunRequestCount: 0,
    };
    const conversation = shownConversation.current;
    if (!isRunning || requestCount !== conversation.begunRequestCount) save(conversation);
    else timer.current ??= window.setTimeout(() => save(conversation), saveEveryMs);
  });
  // Runs before the effects of `useConversations` end, which close the store.
  useLayoutEffect(
    () => () => {
      if (shownConversation.current) save(shownConversation.current);
      shownConversation.current = undefined;
    },
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `save` uses only refs
    [],
  );

  return {
    isSaved: haveSameTurns(
      options.content.sides.map(({ turns }) => turns),
      savedSides,
    ),
    show: (head, sides) => {
      if (shownConversation.current) save(shownConversation.current);
      const { requestCount } = latestOptions.current;
      const turns = sides.map((side) => side.turns);
      shownConversation.current = head && {
        id: head.id,
        revision: head.revision,
        savedSides: turns,
        savedRequestCount: requestCount,
        begunRequestCount: requestCount,
      };
      setSavedSides(turns);
    },
  };
}

function haveSameTurns(sides: readonly (readonly Turn[])[], otherSides: readonly (readonly Turn[])[]): boolean {
  return sides.length === otherSides.length && sides.every((turns, index) => turns === otherSides[index]);
}

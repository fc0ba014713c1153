import { useEffect, useMemo, useState } from 'react';
import { createDatabaseName } from '../../../parts/conversation-database.ts';
import { ConversationStore } from './conversation-store.ts';
import { openDatabase } from './open-store.ts';
import type { SavedHead } from './saved-conversation.ts';

export interface Conversations {
  /** The heads of the saved conversations, the newest first; undefined until they are read. */
  heads: readonly SavedHead[] | undefined;
  /** The reason why the last operation of the store failed; empty if it succeeded. */
  problem: string;
  /**
   * Runs a task with the store, and updates `heads` in all tabs. Resolves to undefined if the task failed; `problem` then has the reason.
   */
  runInStore: <Result>(task: (store: ConversationStore) => Promise<Result>) => Promise<Result | undefined>;
}

/** Opens the store of a person's conversations. Reads `heads` again after each change that any tab makes. */
export function useConversations(userId: string): Conversations {
  const [heads, setHeads] = useState<readonly SavedHead[]>();
  const [problem, setProblem] = useState('');
  const openedStore = useMemo(() => openStore(userId), [userId]);
  useEffect(() => {
    const showHeads = (): Promise<void> =>
      openedStore.store
        .then(async (store) => setHeads(await store.listHeads()))
        .catch((error: unknown) => showProblem(error));
    const showProblem = (error: unknown): void => setProblem(error instanceof Error ? error.message : String(error));
    openedStore.setListener(() => void showHeads());
    void showHeads();
    return openedStore.close;
  }, [openedStore]);
  return {
    heads,
    problem,
    runInStore: async (task) => {
      try {
        const result = await task(await openedStore.store);
        setProblem('');
        openedStore.announceChange();
        return result;
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
        return undefined;
      }
    },
  };
}

interface OpenedStore {
  store: Promise<ConversationStore>;
  /** Sets the listener that is called after each change that any tab makes. */
  setListener: (listener: () => void) => void;
  announceChange: () => void;
  close: () => void;
}

function openStore(userId: string): OpenedStore {
  const store = openDatabase(userId).then((database) => new ConversationStore(database));
  const channel = new BroadcastChannel(createDatabaseName(userId));
  let listener = (): void => undefined;
  channel.addEventListener('message', () => listener());
  return {
    store,
    setListener: (newListener) => void (listener = newListener),
    announceChange: () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel connects pages of one origin only
      channel.postMessage('changed');
      listener();
    },
    close: () => {
      channel.close();
      store.then(
        (openedStore) => openedStore.close(),
        () => undefined,
      );
    },
  };
}

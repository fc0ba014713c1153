import { useEffect, useMemo, useState } from 'react';
import { createDatabaseName } from '../../../parts/conversation-database.ts';
import { ConversationStore } from './conversation-store.ts';
import { openDatabase } from './open-store.ts';
import type { SavedHead } from './saved-conversation.ts';

export interface Conversations {
  /** The heads, the newest first; undefined until they are read. */
  heads: readonly SavedHead[] | undefined;
  /** The reason why the browser keeps no conversations; empty if it keeps them. */
  problem: string;
  /**
   * Runs a task with the store, and shows its changes in all tabs. Resolves to undefined if the task failed; `problem` then has the reason.
   */
  runInStore: <Result>(task: (store: ConversationStore) => Promise<Result>) => Promise<Result | undefined>;
}

/** Opens the conversations that this browser keeps for a person, and follows their changes. */
export function useConversations(user: string): Conversations {
  const [heads, setHeads] = useState<readonly SavedHead[]>();
  const [problem, setProblem] = useState('');
  const openedStore = useMemo(() => openStore(user), [user]);
  useEffect(() => {
    const showHeads = (): Promise<void> =>
      openedStore.store
        .then(async (store) => setHeads(await store.listHeads()))
        .catch((error: unknown) => showProblem(error));
    const showProblem = (error: unknown): void => setProblem(error instanceof Error ? error.message : String(error));
    openedStore.onChange(() => void showHeads());
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
  onChange: (listener: () => void) => void;
  announceChange: () => void;
  close: () => void;
}

function openStore(user: string): OpenedStore {
  const store = openDatabase(user).then((database) => new ConversationStore(database));
  const channel = new BroadcastChannel(createDatabaseName(user));
  let listener = (): void => undefined;
  channel.addEventListener('message', () => listener());
  return {
    store,
    onChange: (newListener) => void (listener = newListener),
    announceChange: () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
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

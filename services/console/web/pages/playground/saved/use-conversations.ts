import { useEffect, useRef, useState } from 'react';
import { createDatabaseName, openDatabase } from './open-store.ts';
import { ConversationStore } from './conversation-store.ts';
import type { SavedHead } from './saved-conversation.ts';

export interface Conversations {
  /** The heads of the saved conversations, the newest first; undefined until they are read. */
  heads: readonly SavedHead[] | undefined;
  /** The reason why the last operation of the store failed; empty if it succeeded. */
  problem: string;
  /**
   * Runs a task with the store, after the tasks before it. Resolves to undefined if the task failed; `problem` then has the reason.
   */
  runInStore: <Result>(task: (store: ConversationStore) => Promise<Result>) => Promise<Result | undefined>;
}

/** Opens the store of a person's conversations. Reads `heads` again after each change that any tab makes. */
export function useConversations(userId: string): Conversations {
  const [heads, setHeads] = useState<readonly SavedHead[]>();
  const [problem, setProblem] = useState('');
  const openedStore = useRef<OpenedStore>(undefined);
  useEffect(() => {
    const showHeads = (): void => {
      store.run((opened) => opened.listHeads()).then(setHeads, (error: unknown) => setProblem(readMessage(error)));
    };
    const store = openStore(userId, showHeads);
    openedStore.current = store;
    showHeads();
    return store.close;
  }, [userId]);
  return {
    heads,
    problem,
    runInStore: async (task) => {
      try {
        const result = await openedStore.current?.run(task);
        setProblem('');
        return result;
      } catch (error) {
        setProblem(readMessage(error));
        return undefined;
      }
    },
  };
}

interface OpenedStore {
  /** Runs a task after the tasks before it. */
  run: <Result>(task: (store: ConversationStore) => Promise<Result>) => Promise<Result>;
  /** Closes the store after the tasks that were started before. */
  close: () => void;
}

/** @param onChange called after each change that any tab makes */
function openStore(userId: string, onChange: () => void): OpenedStore {
  const channel = new BroadcastChannel(createDatabaseName(userId));
  channel.addEventListener('message', onChange);
  const announceChange = (): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel connects pages of one origin only
    channel.postMessage('changed');
    onChange();
  };
  const store = openDatabase(userId).then((database) => new ConversationStore(database, announceChange));
  let lastTask: Promise<unknown> = Promise.resolve();
  const run: OpenedStore['run'] = (task) => {
    const result = lastTask.then(() => store).then(task);
    lastTask = result.catch(() => undefined);
    return result;
  };
  return {
    run,
    close: () => {
      run(async (openedStore) => openedStore.close())
        .catch(() => undefined)
        .finally(() => channel.close());
    },
  };
}

function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

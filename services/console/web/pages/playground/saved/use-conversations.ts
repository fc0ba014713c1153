import { useEffect, useMemo, useState } from 'react';
import { databaseNameOf } from '../../../parts/conversation-database.ts';
import { ConversationStore } from './conversation-store.ts';
import { openDatabase } from './open-store.ts';
import type { SavedHead } from './saved-conversation.ts';

export interface Conversations {
  /** The heads, the newest first; undefined until they are read. */
  heads: readonly SavedHead[] | undefined;
  /** The reason why the browser keeps no conversations; empty if it keeps them. */
  problem: string;
  /** Does work with the store, and shows the changes in all tabs. Resolves to undefined when the work failed. */
  use: <Result>(work: (store: ConversationStore) => Promise<Result>) => Promise<Result | undefined>;
}

/** Opens the conversations that this browser keeps for a person, and follows their changes. */
export function useConversations(user: string): Conversations {
  const [heads, setHeads] = useState<readonly SavedHead[]>();
  const [problem, setProblem] = useState('');
  const opened = useMemo(() => openFor(user), [user]);
  useEffect(() => {
    const show = (): Promise<void> =>
      opened.store.then(async (store) => setHeads(await store.list())).catch((error: unknown) => fail(error));
    const fail = (error: unknown): void => setProblem(error instanceof Error ? error.message : String(error));
    opened.onChange(() => void show());
    void show();
    return opened.close;
  }, [opened]);
  return {
    heads,
    problem,
    use: async (work) => {
      try {
        const result = await work(await opened.store);
        setProblem('');
        opened.tell();
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
  /** Sets the listener that is called after each change, of any tab. */
  onChange: (listener: () => void) => void;
  tell: () => void;
  close: () => void;
}

function openFor(user: string): OpenedStore {
  const store = openDatabase(user).then((database) => new ConversationStore(database));
  const channel = new BroadcastChannel(databaseNameOf(user));
  let listener = (): void => undefined;
  channel.addEventListener('message', () => listener());
  return {
    store,
    onChange: (next) => void (listener = next),
    tell: () => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
      channel.postMessage('changed');
      listener();
    },
    close: () => {
      channel.close();
      store.then(
        (opened) => opened.close(),
        () => undefined,
      );
    },
  };
}

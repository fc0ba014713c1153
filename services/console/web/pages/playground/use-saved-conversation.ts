import { useEffect, useState } from 'react';
import type { ServedFormat } from '../../formats/web-formats.ts';
import type { SavedContent, SharedSettings } from './saved/saved-conversation.ts';
import { useAutosave } from './saved/use-autosave.ts';
import { useConversations, type Conversations } from './saved/use-conversations.ts';
import type { PlaygroundAddress } from './use-address.ts';
import type { Sides } from './use-sides.ts';

export interface SavedConversationOptions {
  userId: string;
  address: PlaygroundAddress;
  sides: Sides;
  format: ServedFormat;
  settings: SharedSettings;
  ownTools: string;
  /** Called with the content of a saved conversation when it is opened. */
  onOpened: (content: SavedContent) => void;
}

export interface SavedConversationControl {
  conversations: Conversations;
  /** Whether the whole shown conversation is saved. */
  isSaved: boolean;
  open: (id: string) => Promise<void>;
  beginNew: () => void;
}

/** Saves the shown conversation, and opens saved conversations. When the page opens, opens the conversation in the URL. */
export function useSavedConversation(options: SavedConversationOptions): SavedConversationControl {
  const { userId, address, sides, format, settings, ownTools, onOpened } = options;
  const conversations = useConversations(userId);
  const content: SavedContent = {
    format: format.name,
    settings,
    ownTools,
    sides: sides.conversations.map(({ turns }, index) => ({
      model: address.models[index] ?? address.models[0],
      turns,
    })),
  };
  const { isSaved, show } = useAutosave({
    conversations,
    content,
    requestCount: sides.requestCount,
    isRunning: sides.isRunning,
    onSaved: (id) => {
      if (id !== address.conversationId) address.change({ conversationId: id });
    },
  });
  const open = async (id: string): Promise<void> => {
    const savedConversation = await conversations.runInStore((store) => store.read(id));
    show(savedConversation?.head, savedConversation?.content.sides ?? []);
    if (savedConversation) onOpened(savedConversation.content);
    sides.load(savedConversation?.content.sides ?? [], savedConversation?.head.id);
  };
  const [idInUrl] = useState(address.conversationId);
  useEffect(() => {
    if (idInUrl !== undefined) void open(idInUrl);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only the conversation that the URL named at first
  }, []);
  return {
    conversations,
    // Another tab may have deleted the conversation.
    isSaved: isSaved && conversations.heads?.some(({ id }) => id === address.conversationId) === true,
    open,
    beginNew: () => {
      show(undefined, []);
      sides.load([], undefined);
    },
  };
}

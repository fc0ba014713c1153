import { useState } from 'react';
import type { ServedFormat } from '../../formats/web-formats.ts';
import type { SavedContent, SharedSettings } from './saved/saved-conversation.ts';
import type { PlaygroundAddress } from './use-address.ts';
import { useConversation, type ConversationControl } from './use-conversation.ts';

export interface Sides {
  /** The shown conversations: one, or two side by side. */
  conversations: readonly ConversationControl[];
  isRunning: boolean;
  /** The number of requests that both sides have sent so far. */
  requestCount: number;
  /** The number of times that another conversation was loaded. */
  loadCount: number;
  /** Chooses the models that answer from now on. A second model begins with the turns of the first model. */
  chooseModels: (models: readonly [string, ...string[]]) => void;
  /** Continues with only the side at this index. */
  keepOnly: (index: number) => void;
  send: (text: string, images: string[]) => void;
  /**
   * Sends another text in place of a turn of the user. If the other side has the same turn at the same place, that side sends the text too.
   */
  edit: (index: number, turnIndex: number, text: string) => void;
  /**
   * Replaces the last answer of a side.
   * @param model the model with which the side continues; default: its current model
   */
  answerAgain: (index: number, model?: string) => void;
  stop: () => void;
  load: (sides: SavedContent['sides'], conversationId?: string) => void;
}

/** Holds the conversation with the chosen model or, when two models are compared, the conversation with each model. */
export function useSides(format: ServedFormat, settings: SharedSettings, { models, change }: PlaygroundAddress): Sides {
  const [firstModel, secondModel] = models;
  const first = useConversation(format, { ...settings, model: firstModel });
  const second = useConversation(format, { ...settings, model: secondModel ?? firstModel });
  const [loadCount, setLoadCount] = useState(0);
  const conversations = secondModel === undefined ? [first] : [first, second];
  const chooseModels = (newModels: readonly [string, ...string[]]): void => {
    if (newModels.length === 1) second.load([]);
    else if (secondModel === undefined) second.load(first.turns);
    change({ models: newModels });
  };
  return {
    conversations,
    isRunning: conversations.some(({ isRunning }) => isRunning),
    requestCount: first.requestCount + second.requestCount,
    loadCount,
    chooseModels,
    keepOnly: (index) => {
      if (index === 1) first.load(second.turns);
      chooseModels([models[index] ?? firstModel]);
    },
    send: (text, images) => {
      for (const side of conversations) side.send(text, images);
    },
    edit: (index, turnIndex, text) => {
      const editedTurn = conversations[index]?.turns[turnIndex];
      const earlierUserTurnCount = conversations[index]?.turns
        .slice(0, turnIndex)
        .filter(({ role }) => role === 'user').length;
      for (const side of conversations) {
        const userTurnIndexes = side.turns.flatMap(({ role }, place) => (role === 'user' ? [place] : []));
        const sameIndex = earlierUserTurnCount === undefined ? undefined : userTurnIndexes[earlierUserTurnCount];
        if (sameIndex !== undefined && haveSameText(side.turns[sameIndex], editedTurn)) side.edit(sameIndex, text);
      }
    },
    answerAgain: (index, model) => {
      if (model !== undefined)
        change({ models: models.map((shownModel, sideIndex) => (sideIndex === index ? model : shownModel)) });
      conversations[index]?.answerAgain(model);
    },
    stop: () => {
      for (const side of conversations) side.stop();
    },
    load: (sides, conversationId) => {
      first.load(sides[0]?.turns ?? []);
      second.load(sides[1]?.turns ?? []);
      setLoadCount((count) => count + 1);
      change({ ...(sides.length > 0 && { models: sides.map(({ model }) => model) }), conversationId });
    },
  };
}

/** Returns whether two turns are both user turns with the same text. */
function haveSameText(turn: ConversationControl['turns'][number] | undefined, other: typeof turn): boolean {
  return turn?.role === 'user' && other?.role === 'user' && turn.text === other.text;
}

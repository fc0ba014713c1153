import { useState } from 'react';
import type { ServedFormat } from '../../formats/web-formats.ts';
import type { SavedContent, SharedSettings } from './saved/saved-conversation.ts';
import type { PlaygroundAddress } from './use-address.ts';
import { useConversation, type ConversationControl } from './use-conversation.ts';

export interface Sides {
  /** The conversations. There is one, or there are two side by side. */
  all: readonly ConversationControl[];
  isRunning: boolean;
  requestCount: number;
  /** The number of times that another conversation was loaded. */
  loadCount: number;
  /** Chooses the models that answer from now on. A second model begins with the first one's turns. */
  choose: (models: readonly [string, ...string[]]) => void;
  /** Continues with only one of two sides. */
  keep: (index: number) => void;
  send: (text: string, images: string[]) => void;
  /** Sends another text in place of a turn. The other side gets it too if it contains the same turn. */
  edit: (index: number, place: number, text: string) => void;
  /**
   * Answers again.
   * @param model the model with which the side continues
   */
  again: (index: number, model?: string) => void;
  stop: () => void;
  load: (sides: SavedContent['sides'], conversation?: string) => void;
}

/** Returns the conversation with the chosen model, or the two conversations with two models. */
export function useSides(format: ServedFormat, settings: SharedSettings, { models, go }: PlaygroundAddress): Sides {
  const [one, other] = models;
  const first = useConversation(format, { ...settings, model: one });
  const second = useConversation(format, { ...settings, model: other ?? one });
  const [loads, setLoads] = useState(0);
  const all = other === undefined ? [first] : [first, second];
  const choose = (next: readonly [string, ...string[]]): void => {
    if (next.length === 1) second.load([]);
    else if (other === undefined) second.load(first.turns);
    go({ models: next });
  };
  return {
    all,
    isRunning: all.some(({ isRunning }) => isRunning),
    requestCount: first.requestCount + second.requestCount,
    loadCount: loads,
    choose,
    keep: (index) => {
      if (index === 1) first.load(second.turns);
      choose([models[index] ?? one]);
    },
    send: (text, images) => {
      for (const side of all) side.send(text, images);
    },
    edit: (index, place, text) => {
      const edited = all[index]?.turns[place];
      const nth = all[index]?.turns.slice(0, place).filter(({ role }) => role === 'user').length;
      for (const side of all) {
        const places = side.turns.flatMap(({ role }, at) => (role === 'user' ? [at] : []));
        const same = nth === undefined ? undefined : places[nth];
        if (same !== undefined && isSame(side.turns[same], edited)) side.edit(same, text);
      }
    },
    again: (index, model) => {
      if (model !== undefined) go({ models: models.map((each, at) => (at === index ? model : each)) });
      all[index]?.again(model);
    },
    stop: () => {
      for (const side of all) side.stop();
    },
    load: (sides, conversation) => {
      first.load(sides[0]?.turns ?? []);
      second.load(sides[1]?.turns ?? []);
      setLoads((count) => count + 1);
      go({ ...(sides.length > 0 && { models: sides.map(({ model }) => model) }), conversation });
    },
  };
}

function isSame(some: ConversationControl['turns'][number] | undefined, other: typeof some): boolean {
  return some?.role === 'user' && other?.role === 'user' && some.text === other.text;
}

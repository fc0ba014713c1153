import { useState } from 'react';
import { useSearchParams } from 'wouter';

export interface PlaygroundAddress {
  /** The models that answer: one, or two side by side. */
  models: readonly [string, ...string[]];
  conversationId: string | undefined;
  change: (choices: { models?: readonly string[]; conversationId?: string | undefined }) => void;
}

/**
 * Reads and changes the choices in the page's URL: `model=<id>` for each of one or two models, and `conversation=<id>`.
 * @param defaultModel the model if the URL names no model
 */
export function useAddress(defaultModel: string): PlaygroundAddress {
  const [search, setSearch] = useSearchParams();
  // The list of models may change during a conversation. The conversation must keep its model.
  const [initialModel] = useState(defaultModel);
  const [first = initialModel, ...rest] = search.getAll('model').filter((model) => model !== '');
  return {
    models: [first, ...rest.slice(0, 1)],
    conversationId: search.get('conversation') ?? undefined,
    change: (choices) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          if (choices.models) {
            next.delete('model');
            for (const model of choices.models) next.append('model', model);
          }
          if ('conversationId' in choices) {
            if (choices.conversationId === undefined) next.delete('conversation');
            else next.set('conversation', choices.conversationId);
          }
          return next;
        },
        { replace: true },
      ),
  };
}

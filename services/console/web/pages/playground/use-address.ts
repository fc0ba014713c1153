import { useState } from 'react';
import { useSearchParams } from 'wouter';

export interface PlaygroundAddress {
  /** The models that answer: one, or two side by side. */
  models: readonly [string, ...string[]];
  conversation: string | undefined;
  change: (to: { models?: readonly string[]; conversation?: string | undefined }) => void;
}

/**
 * Reads the choices in the page's URL: `?model=<id>`, another `model=<id>` if two models are compared, and `conversation=<id>`.
 * @param defaultModel the model if the URL names no model
 */
export function useAddress(defaultModel: string): PlaygroundAddress {
  const [search, setSearch] = useSearchParams();
  // The default model of the first rendering is kept, because the list of models may change during a conversation.
  const [initialModel] = useState(defaultModel);
  const [first = initialModel, ...rest] = search.getAll('model').filter((model) => model !== '');
  return {
    models: [first, ...rest.slice(0, 1)],
    conversation: search.get('conversation') ?? undefined,
    change: (to) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          if (to.models) {
            next.delete('model');
            for (const model of to.models) next.append('model', model);
          }
          if ('conversation' in to) {
            if (to.conversation === undefined) next.delete('conversation');
            else next.set('conversation', to.conversation);
          }
          return next;
        },
        { replace: true },
      ),
  };
}

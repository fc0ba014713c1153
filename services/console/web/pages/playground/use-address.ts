import { useState } from 'react';
import { useSearchParams } from 'wouter';

export interface PlaygroundAddress {
  /** The models that answer. There is one, or there are two side by side. */
  models: readonly [string, ...string[]];
  conversation: string | undefined;
  go: (to: { models?: readonly string[]; conversation?: string | undefined }) => void;
}

/**
 * Reads the choices in the page's URL: `?model=<id>`, another `model=<id>` if there are two side by side, and `conversation=<id>`.
 * @param usual the model if the URL names none
 */
export function useAddress(usual: string): PlaygroundAddress {
  const [search, setSearch] = useSearchParams();
  // The usual model of the first rendering is kept, because models come and go during a conversation with it.
  const [atFirst] = useState(usual);
  const [first = atFirst, ...rest] = search.getAll('model').filter((model) => model !== '');
  return {
    models: [first, ...rest.slice(0, 1)],
    conversation: search.get('conversation') ?? undefined,
    go: (to) =>
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

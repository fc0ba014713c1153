import { useState } from 'react';
import { useSearchParams } from 'wouter';

export interface PlaygroundAddress {
  /** The model that is asked, or two that are asked at once. */
  models: readonly [string, ...string[]];
  /** The id of the saved conversation that is shown. */
  conversation: string | undefined;
  /** Changes what the address says. */
  go: (to: { models?: readonly string[]; conversation?: string | undefined }) => void;
}

/** What the page's address chooses: `?model=<id>`, a second one for two side by side, and `&conversation=<id>`. */
export function useAddress(usual: string): PlaygroundAddress {
  const [search, setSearch] = useSearchParams();
  // Models come and go while one talks to the usual one.
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

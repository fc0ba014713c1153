import { Anchor } from '@mantine/core';
import { createContext, useContext } from 'react';
import type { RouterFacts } from '../../contract/live.ts';
import { useApi } from '../api/use-api.ts';

/** The part of the documentation that explains the shown page, such as `accounts#keys`. */
export const DocsContext = createContext<string | undefined>(undefined);

/** Leads to the documentation of the shown page, in another tab. Shows nothing on a router without the built documentation. */
export function DocsLink() {
  const address = useContext(DocsContext);
  const { data: routerFacts } = useApi<RouterFacts>('/about', { enabled: address !== undefined });
  if (address === undefined || !routerFacts?.hasDocs) return null;
  return (
    <Anchor href={`/docs/${address}`} target="_blank" rel="noopener" size="sm">
      Docs
    </Anchor>
  );
}

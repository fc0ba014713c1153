import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ApiFailure } from '../../api/call-api.ts';
import { listTools, type ListedTool } from './run-tool.ts';

/** All tools of the connected workers, as of lately. */
export function useTools(): UseQueryResult<ListedTool[], ApiFailure> {
  return useQuery({ queryKey: ['tools'], queryFn: ({ signal }) => listTools(signal), refetchInterval: 15_000 });
}

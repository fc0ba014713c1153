import {
  keepPreviousData,
  QueryClient,
  useMutation,
  useQuery,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { ApiFailure, callApi } from './call-api.ts';

/** The cache of the API's answers. Live data does not pass through it. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // The router may be on this machine, or in its network, while the browser is offline.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      // Only temporary failures are retried.
      retry: (count, error) => count < 2 && error instanceof ApiFailure && (error.status === 0 || error.status >= 502),
    },
  },
});

export interface ApiOptions<Answer> {
  enabled?: boolean;
  /** Milliseconds after which the answer is fetched again, or a function that computes them from the last answer. */
  everyMs?: number | ((answer: Answer | undefined) => number);
}

/** Queries the API's answer at a path. The answer is cached, and fetched again when it is stale or when `useChange` has changed it. */
export function useApi<Answer>(
  path: string,
  { enabled = true, everyMs }: ApiOptions<Answer> = {},
): UseQueryResult<Answer, ApiFailure> {
  return useQuery<Answer, ApiFailure>({
    queryKey: [path],
    queryFn: ({ signal }) => callApi<Answer>('GET', path, undefined, signal),
    enabled,
    ...(everyMs !== undefined && {
      refetchInterval: typeof everyMs === 'number' ? everyMs : ({ state }) => everyMs(state.data),
    }),
    placeholderData: keepPreviousData,
  });
}

/**
 * Returns a mutation for a request that changes something, and refreshes the answers that it changes.
 * @param changedPrefixes prefixes of the paths of these answers
 */
export function useChange<Input, Answer>(
  send: (input: Input) => Promise<Answer>,
  changedPrefixes: readonly string[],
): UseMutationResult<Answer, ApiFailure, Input> {
  return useMutation<Answer, ApiFailure, Input>({
    mutationFn: send,
    onSuccess: () => refreshAnswers(changedPrefixes),
  });
}

/** Fetches the shown answers at paths with one of these prefixes again. */
export async function refreshAnswers(prefixes: readonly string[]): Promise<void> {
  await queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) => prefixes.some((prefix) => String(path).startsWith(prefix)),
  });
}

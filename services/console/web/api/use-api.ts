import {
  keepPreviousData,
  QueryClient,
  useMutation,
  useQuery,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { ApiFailure, callApi } from './call-api.ts';

/** What the pages know of the API's answers. What the live stream tells is not asked for again and again here. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Only what may be different the next time is asked for again.
      retry: (count, error) => count < 2 && error instanceof ApiFailure && (error.status === 0 || error.status >= 502),
    },
  },
});

/** What the API answers at a path; kept, and asked for again when it is old or was changed. */
export function useApi<Answer>(
  path: string,
  options: { enabled?: boolean; everyMs?: number } = {},
): UseQueryResult<Answer, ApiFailure> {
  return useQuery<Answer, ApiFailure>({
    queryKey: [path],
    queryFn: ({ signal }) => callApi<Answer>('GET', path, undefined, signal),
    enabled: options.enabled ?? true,
    ...(options.everyMs === undefined ? {} : { refetchInterval: options.everyMs }),
    placeholderData: keepPreviousData,
  });
}

/**
 * Something that changes what the API knows.
 * @param changes beginnings of the paths whose answers are different afterwards
 */
export function useChange<Input, Answer>(
  change: (input: Input) => Promise<Answer>,
  changes: readonly string[],
): UseMutationResult<Answer, ApiFailure, Input> {
  return useMutation<Answer, ApiFailure, Input>({
    mutationFn: change,
    onSuccess: () => refresh(changes),
  });
}

/** Has answers asked for again where they are shown. */
export async function refresh(beginnings: readonly string[]): Promise<void> {
  await queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) => beginnings.some((begin) => String(path).startsWith(begin)),
  });
}

import { useLocation, useSearch } from 'wouter';

/** Returns the page that the URL names, and the reason of a failed sign-in at a provider from `?sign-in=<reason>`. */
export function useRequestedPage(): { to: string; reason: string | null } {
  const [path] = useLocation();
  const search = new URLSearchParams(useSearch());
  const reason = search.get('sign-in');
  search.delete('sign-in');
  return { to: search.size > 0 ? `${path}?${search}` : path, reason };
}

import { useLocation, useSearch } from 'wouter';

/** The page that the address asks for, and why a sign-in at a provider has failed, where the address says that: `?sign-in=<reason>`. */
export function useRequestedPage(): { to: string; reason: string | null } {
  const [path] = useLocation();
  const search = new URLSearchParams(useSearch());
  const reason = search.get('sign-in');
  search.delete('sign-in');
  return { to: search.size > 0 ? `${path}?${search}` : path, reason };
}

/**
 * Returns a router's address without the path of one of its APIs, query and fragment: `https://llm.example.com` for
 * `https://llm.example.com/api/openai/v1?team=1`. A path before that of the API stays.
 */
export function bareAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/api(?:\/.*)?$/, '').replace(/\/+$/, '')}`;
}

/**
 * Returns a router's address without the path of one of its APIs, the query and the fragment: `https://llm.example.com` for
 * `https://llm.example.com/api/openai/v1?team=1`. A path in front of the API's path is kept.
 */
export function toBareAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/api(?:\/.*)?$/, '').replace(/\/+$/, '')}`;
}

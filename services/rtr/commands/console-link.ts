/** The address of a one-time link. @param consoleUrl where people reach the router, as `https://llm.example.com` */
export function consoleLink(consoleUrl: string, token: string): string {
  return new URL(`/link/${token}`, consoleUrl).href;
}

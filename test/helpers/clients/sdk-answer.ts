/** Returns options of an official SDK whose every request is answered with this stream. */
export function sdkAnswer(stream: string): { apiKey: string; maxRetries: number; fetch: typeof fetch } {
  const answer = () => Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } }));
  return { apiKey: 'k', maxRetries: 0, fetch: answer };
}

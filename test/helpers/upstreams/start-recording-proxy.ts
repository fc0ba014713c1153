import { text } from 'node:stream/consumers';
import { relay } from '../servers/relay.ts';
import { serveHttp } from '../servers/serve-http.ts';

/**
 * Starts a proxy in front of the server at an address such as `http://127.0.0.1:1234`.
 * @param given headers that every request gets, whatever the client sends
 * @param rewrite returns the body of a POST request for the server
 */
export async function startRecordingProxy(
  server: string,
  given: Record<string, string> = {},
  rewrite = (body: string): string => body,
) {
  const bodies: string[] = [];
  const answered: string[] = [];
  const proxy = await serveHttp(async (request, response) => {
    const isPost = request.method === 'POST';
    const body = await text(request);
    if (isPost) bodies.push(body);
    const passed = isPost ? { body: Buffer.from(rewrite(body)) } : {};
    const onward = relay(server, request, response, { ...passed, headers: given });
    onward.once('response', ({ statusCode }) => answered.push(`${request.method} ${request.url} ${statusCode}`));
  });
  proxy.server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\n\r\n'));
  return {
    url: proxy.url,
    /** Bodies of its POST requests, in order. */
    bodies,
    /** Method, path and status of every answered request. */
    answered,
    stop: proxy.stop,
  };
}

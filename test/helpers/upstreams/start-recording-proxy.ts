import { text } from 'node:stream/consumers';
import { relay } from '../servers/relay.ts';
import { serveHttp } from '../servers/serve-http.ts';

/**
 * Starts a proxy before the server at an address such as `http://127.0.0.1:1234`.
 * @param given headers that every request has, whatever the client sends
 * @param rewrite what the server gets of the body of a POST request
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
    /** The bodies of its POST requests, in order. */
    bodies,
    /** Method, path and status of every request that was answered. */
    answered,
    stop: proxy.stop,
  };
}

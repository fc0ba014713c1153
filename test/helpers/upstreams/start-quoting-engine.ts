import { json } from 'node:stream/consumers';
import { serveHttp } from '../servers/serve-http.ts';

/**
 * Starts an engine with the model `quoter` that fails every request. For a prompt that begins with a status it answers with that status,
 * for one that begins with `event` with an error in the middle of a stream.
 */
export async function startQuotingEngine() {
  const { url, stop } = await serveHttp(async (request, response) => {
    if (request.method !== 'POST') return void response.end(JSON.stringify({ data: [{ id: 'quoter' }] }));
    const { messages } = (await json(request)) as { messages: { content: string }[] };
    const prompt = messages.at(-1)?.content ?? '';
    const error = JSON.stringify({ error: { message: `Cannot parse: ${prompt}`, type: 'invalid_request_error' } });
    if (!prompt.startsWith('event')) return void response.writeHead(Number.parseInt(prompt, 10)).end(error);
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: 'Once ' }, finish_reason: null }] });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${chunk}\n\ndata: ${error}\n\n`);
  });
  return {
    url,
    stop,
  };
}

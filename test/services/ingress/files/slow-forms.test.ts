import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { receiveForm } from '#services/ingress/files/receive-form.ts';
import { HeldBodies } from '#services/ingress/http/held-bodies.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { until } from '../../../helpers/until.ts';

const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
const end = 'content\r\n--b--\r\n';

/** Serves forms with this many places, and counts the forms that it has begun to read. */
async function serveForms(places: number) {
  const held = new HeldBodies(1_000_000, places);
  let begun = 0;
  const url = await serveInTest(async (received, response) => {
    try {
      const holding = held.admit({ id: received.url ?? '', limits: [] });
      response.on('close', () => holding.release());
      begun += 1;
      const keep = (content: AsyncIterable<Uint8Array>): Promise<string> => text(content);
      const form = await receiveForm(received, { timeoutMs: 60_000, holding, maxFiles: 1, isKept: () => true, keep });
      response.end(form.files[0]?.kept);
    } catch (error) {
      response.end(error instanceof RouterError ? error.code : String(error));
    }
  });
  const send = (sender: string) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const sent = request(`${url}/${sender}`, { method: 'POST', headers });
    onTestFinished(() => void sent.destroy());
    const answer = new Promise<string>((resolve, reject) => {
      sent.on('response', (response) => void text(response).then(resolve, reject)).on('error', reject);
    });
    answer.catch(() => undefined);
    return { sent, answer };
  };
  return { send, begun: () => begun };
}

it('a form that is slow to arrive ends when another request needs its place, the one that has waited for longest first', async () => {
  const { send, begun } = await serveForms(2);
  const slow = [];
  for (const at of [1, 2]) {
    const each = send(`slow${at}`);
    each.sent.write(head);
    await until(() => begun() === at);
    slow.push(each);
  }
  const quick = send('quick');
  quick.sent.end(head + end);
  expect(await quick.answer).toBe('content');
  expect(await slow[0]?.answer).toBe('overloaded');
  slow[1]?.sent.end(end);
  expect(await slow[1]?.answer).toBe('content');
});

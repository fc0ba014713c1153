import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Request, Response } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { receiveForm } from '#services/ingress/files/receive-form.ts';
import { receiveFormBody } from '#services/ingress/files/receive-form-body.ts';
import { HeldBodies } from '#services/ingress/http/held-bodies.ts';
import { createContext } from '#services/ingress/http/request-context.ts';
import { identityOf } from '../../../helpers/serving/serving-parts.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { until } from '../../../helpers/until.ts';

interface Answer {
  /** Of the error. */
  code?: string;
  message?: string;
  /** Bytes of the body that came of the form, and what the form was counted as. */
  bytes?: number;
  held?: number;
}

/** Serves forms within these bounds: what may be held of all of them, and what one of them may have. */
async function serveForms(heldBytes: number, maxBytes = 10_000_000) {
  const held = new HeldBodies(heldBytes, 100);
  const parts = { heldBodies: held, isEnding: () => false, bodyTimeoutMs: 60_000, inputFiles: { maxBytes } };
  const url = await serveInTest(async (received, response) => {
    createContext(response, 'r1').sender = identityOf();
    try {
      const served = response as unknown as Response;
      const form = await receiveFormBody(received as Request, served, parts);
      response.end(JSON.stringify({ bytes: form?.length, held: held.bytes }));
    } catch (error) {
      const { code, message } = error instanceof RouterError ? error : { code: 'no error', message: String(error) };
      response.end(JSON.stringify({ code, message }));
    }
  });
  /** @param isWhole whether nothing comes behind the text */
  return async (content: string, isWhole = true): Promise<Answer> => {
    const { sent, answer } = beginForm(url);
    sent.write(content);
    if (isWhole) sent.end();
    return JSON.parse(await answer) as Answer;
  };
}

/** Begins to send a form. */
function beginForm(url: string) {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const sent = request(url, { method: 'POST', headers });
  onTestFinished(() => void sent.destroy());
  const answer = new Promise<string>((resolve, reject) => {
    // What is refused may close the connection while the rest is sent.
    sent.on('response', (response) => void text(response).then(resolve, reject)).on('error', reject);
  });
  answer.catch(() => undefined);
  return { sent, answer };
}

const part = (name: string, content: string, more = ''): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
const fields = (count: number, content: string): string =>
  Array.from({ length: count }, (_, at) => part(`f${at}`, content)).join('');
const end = '--b--\r\n';

it.each([
  ['fields', fields(20, 'a'.repeat(100_000))],
  ['one field', part('a', 'a'.repeat(120_000))],
  ['a field that has not ended', `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${'a'.repeat(120_000)}`],
  ['the head of a part', `--b\r\nx: ${'a'.repeat(120_000)}`],
])('what a form has besides its files counts as held while it arrives: %s', async (_, sent) => {
  const send = await serveForms(100_000);
  expect(await send(sent, false)).toMatchObject({ code: 'body_too_large' });
});

it.each([
  ['values', part('a', '\u0001'.repeat(100_000))],
  ['names', part('\u0001'.repeat(50_000), 'a') + part('\u0002'.repeat(50_000), 'a')],
  ['names of files', part('a', 'a', `; filename="${'\u0001'.repeat(70_000)}"`)],
])('what a form has besides its files counts as the JSON that comes of it: %s', async (_, sent) => {
  const [send, sendBounded] = [await serveForms(10_000_000), await serveForms(10_000_000, 400_000)];
  const { bytes = 0, held = 0 } = await send(sent + end);
  expect(bytes).toBeGreaterThan(400_000);
  expect(held).toBeGreaterThan(bytes);
  expect(await sendBounded(sent + end)).toMatchObject({ code: 'body_too_large' });
});

it('what a form has besides its files takes nothing from its files', async () => {
  const file = part('file', 'a'.repeat(3_000_000), '; filename="a"');
  const send = await serveForms(4_100_000);
  const { bytes = 0, held = 0 } = await send(part('model', 'a') + file + end);
  expect(bytes).toBeGreaterThan(4_000_000);
  expect(held - bytes).toBeLessThan(1_000);
});

describe('a form is refused at once', () => {
  const nothing = '\r\n--b\r\n';

  it.each([
    ['many parts that have no head', nothing.repeat(10_000)],
    ['many parts whose head is empty', `${nothing}\r\n`.repeat(10_000)],
    ['many parts that are neither fields nor files', `${nothing}x: y\r\n\r\n`.repeat(10_000)],
    ['as many in a file', part('file', nothing.repeat(10_000), '; filename="a"')],
  ])('with %s', async (_, sent) => {
    const send = await serveForms(10_000_000);
    const refused = { code: 'invalid_request', message: expect.stringContaining('parts') };
    expect(await send(sent, false)).toMatchObject(refused);
  });

  it.each([
    ['before its first part', 'a'.repeat(4_000_000)],
    ['behind its last part', part('a', 'a') + end + 'a'.repeat(4_000_000)],
    ['in a part that is neither a field nor a file', `--b\r\nx: y\r\n\r\n${'a'.repeat(4_000_000)}`],
  ])('with more than fields can have %s', async (_, sent) => {
    const send = await serveForms(100_000_000);
    expect(await send(sent, false)).toMatchObject({ code: 'body_too_large' });
  });

  it.each(['', '; filename="a"'])('with a part that has no name, but %j', async (other) => {
    const send = await serveForms(10_000_000);
    const sent = `--b\r\ncontent-disposition: form-data${other}\r\n\r\na\r\n${end}`;
    expect(await send(sent)).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('name') });
  });
});

/** Serves forms with this many places, and counts the forms that it has begun to read. */
async function servePlaces(places: number) {
  const held = new HeldBodies(1_000_000, places);
  let begun = 0;
  const url = await serveInTest(async (received, response) => {
    try {
      const holding = held.admit({ id: received.url ?? '', ownerId: undefined, limits: [] });
      response.on('close', () => holding.release());
      begun += 1;
      const keep = (content: AsyncIterable<Uint8Array>): Promise<string> => text(content);
      const form = await receiveForm(received, {
        timeoutMs: 60_000,
        reservation: holding,
        maxFiles: 1,
        isKept: () => true,
        keep,
      });
      response.end(form.files[0]?.kept);
    } catch (error) {
      response.end(error instanceof RouterError ? error.code : String(error));
    }
  });
  return { send: (sender: string) => beginForm(`${url}/${sender}`), begun: () => begun };
}

it('a form that is slow to arrive ends when another request needs its place, the one that has waited for longest first', async () => {
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
  const rest = `content\r\n${end}`;
  const { send, begun } = await servePlaces(2);
  const slow = [];
  for (const at of [1, 2]) {
    const each = send(`slow${at}`);
    each.sent.write(head);
    await until(() => begun() === at);
    slow.push(each);
  }
  const quick = send('quick');
  quick.sent.end(head + rest);
  expect(await quick.answer).toBe('content');
  expect(await slow[0]?.answer).toBe('overloaded');
  slow[1]?.sent.end(rest);
  expect(await slow[1]?.answer).toBe('content');
});

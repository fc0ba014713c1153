import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

/* A web page's use of the SDKs. It is bundled for the browser, where its exports are the global `app`. */

/** A page's view of an answer: its headers and the texts of its stream, in order. The browser may hide everything. */
export type Seen = { pieces: string[]; status: number; headers: Record<string, string> } | 'unreadable';

const question = [{ role: 'user' as const, content: 'Say something.' }];

export function streamChat(url: string, apiKey: string): Promise<Seen> {
  const client = new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 });
  return seen(async (pieces) => {
    const request = { model: 'demo', messages: question, stream: true as const };
    const { data, response } = await client.chat.completions.create(request).withResponse();
    for await (const { choices } of data) pieces.push(choices[0]?.delta.content ?? '');
    return response;
  });
}

export function streamMessage(url: string, apiKey: string): Promise<Seen> {
  const client = new Anthropic({
    baseURL: `${url}/api/anthropic`,
    apiKey,
    dangerouslyAllowBrowser: true,
    maxRetries: 0,
  });
  return seen(async (pieces) => {
    const stream = client.beta.messages.stream({
      model: 'demo',
      max_tokens: 100,
      messages: question,
      betas: ['a-beta'],
    });
    stream.on('text', (text) => pieces.push(text));
    const { response } = await stream.withResponse();
    await stream.done();
    return response;
  });
}

/**
 * Reads the text of a chat answer by fetch. Its connection is cut again and again after some events, and the answer continues at the next
 * URL each time. The pieces are its texts; the headers are those of the last answer.
 */
export async function resumeChat(urls: string, apiKey: string, content: string, cuts: string): Promise<Seen> {
  const key = crypto.randomUUID();
  const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content }], stream: true });
  return seen(async (pieces) => {
    let last: string | undefined;
    for (let cut = 0; ; cut += 1) {
      const places = urls.split(',');
      const controller = new AbortController();
      const headers = new Headers({ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' });
      headers.set('idempotency-key', key);
      if (last !== undefined) headers.set('last-event-id', last);
      const url = `${places[cut % places.length]}/api/openai/v1/chat/completions`;
      const answer = await fetch(url, { method: 'POST', headers, body, signal: controller.signal });
      if (!answer.ok) throw new Error(await answer.text());
      const most = cut < Number(cuts) ? 7 : Infinity;
      last = (await readEvents(answer, most, pieces)) ?? last;
      if (most === Infinity) return answer;
      controller.abort();
    }
  });
}

/**
 * Reads up to `most` events of a stream.
 * @returns the id of the last one
 */
async function readEvents(answer: Response, most: number, pieces: string[]): Promise<string | undefined> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let [text, count] = ['', 0];
  let last: string | undefined;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || value === undefined) return last;
    text += value;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
      if (data === undefined) continue;
      last = lines.find((line) => line.startsWith('id: '))?.slice(4);
      const chunk = data === '[DONE]' ? {} : (JSON.parse(data) as { choices?: { delta?: { content?: string } }[] });
      pieces.push(chunk.choices?.[0]?.delta?.content ?? '');
      count += 1;
      if (count >= most) return last;
    }
  }
}

/** Fetches with cookies. */
export function fetchWithCookies(url: string, apiKey: string): Promise<Seen> {
  const headers = { authorization: `Bearer ${apiKey}` };
  return seen(() => fetch(`${url}/api/openai/v1/models`, { headers, credentials: 'include' }));
}

/** Fetches from the console with a request that needs no preflight. */
export function fetchConsole(url: string): Promise<Seen> {
  return seen(() => fetch(`${url}/console/api/session`));
}

async function seen(ask: (pieces: string[]) => Promise<Response>): Promise<Seen> {
  const pieces: string[] = [];
  try {
    const { status, headers } = await ask(pieces);
    return { pieces, status, headers: Object.fromEntries(headers) };
  } catch (error) {
    const isUnreadable = [TypeError, OpenAI.APIConnectionError, Anthropic.APIConnectionError].some(
      (kind) => error instanceof kind,
    );
    if (isUnreadable) return 'unreadable';
    const { status, headers } = error as { status: number; headers: Headers };
    return { pieces, status, headers: Object.fromEntries(headers) };
  }
}

import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import type { Batch } from 'openai/resources/batches';
import { setTimeout as sleep } from 'node:timers/promises';

/** A line of a batch's results, as OpenAI's API writes it. */
export interface ResultLine {
  id: string;
  custom_id: string;
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  error: { code: string; message: string } | null;
}

export function batchClients({ url, key }: { url: string; key: string }) {
  return {
    openai: new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: key, maxRetries: 2 }),
    anthropic: new Anthropic({ baseURL: `${url}/api/anthropic`, apiKey: key, maxRetries: 2 }),
  };
}

/** Returns a line of a chat request. */
export function chatLine(id: string, text: string, more: object = {}): object {
  const body = { model: 'demo', messages: [{ role: 'user', content: text }], ...more };
  return { custom_id: id, method: 'POST', url: '/v1/chat/completions', body };
}

/** Returns this number of lines, `line-0` and so on, for each of which the demo engine takes this many milliseconds. */
export function slowLines(count: number, ms: number): object[] {
  const demo = { first_token_delay_ms: ms };
  return Array.from({ length: count }, (_, at) => chatLine(`line-${at}`, `Say ${at}.`, { demo }));
}

/** Returns the number of answered lines of a batch. */
export async function completedOf(openai: OpenAI, id: string): Promise<number> {
  return (await openai.batches.retrieve(id)).request_counts?.completed ?? 0;
}

/** Uploads lines and creates a batch of them. */
export async function submit(
  openai: OpenAI,
  lines: readonly (object | string)[],
  endpoint: OpenAI.BatchCreateParams['endpoint'] = '/v1/chat/completions',
): Promise<Batch> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const file = await openai.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' });
  return openai.batches.create({ input_file_id: file.id, endpoint, completion_window: '24h' });
}

/** Waits until a batch has one of these states. */
export async function untilBatch(
  openai: OpenAI,
  id: string,
  states: readonly Batch['status'][] = ['completed', 'failed', 'expired', 'cancelled'],
  ms = 30_000,
): Promise<Batch> {
  const deadline = Date.now() + ms;
  for (;;) {
    const batch = await openai.batches.retrieve(id);
    if (states.includes(batch.status)) return batch;
    if (Date.now() > deadline) throw new Error(`the batch is ${batch.status}: ${JSON.stringify(batch)}`);
    await sleep(100);
  }
}

export async function resultsOf(openai: OpenAI, file: string | null | undefined): Promise<ResultLine[]> {
  if (file === null || file === undefined) return [];
  const text = await (await openai.files.content(file)).text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ResultLine);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { chunk, startScriptedEngine } from '../../helpers/upstreams/start-scripted-engine.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const model = 'opened';
const models = JSON.stringify({ data: [{ id: model }] });
const opening = chunk({ role: 'assistant', content: '' });
/** Usage of the answers, so that the worker does not count tokens itself, which would load its tokenizer during the timing. */
const usage = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } };
const answer = `${opening}${chunk({ content: 'Hello there' })}${chunk({}, 'stop')}data: ${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`;

let opened = 0;

/** Sends only the role of its answer. */
const stuck = useStarted(() =>
  startScriptedEngine((response, { method }) => {
    if (method !== 'POST') return void response.end(models);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(opening, () => (opened += 1));
  }),
);
const healthy = useStarted(() =>
  startScriptedEngine((response, { method }) => {
    if (method === 'POST') response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
    else response.end(models);
  }),
);
const cluster = useScriptedCluster();

it.each([
  { format: 'chat', path: '/openai/v1/chat/completions' },
  { format: 'messages', path: '/anthropic/v1/messages' },
])('a stream of the $format format moves when its worker dies after the role and before any text', async ({ path }) => {
  const before = opened;
  const doomed = await cluster.addWorker({ ENGINE_URL: stuck.url, ENGINE_KIND: 'openai' });
  const body = { model, stream: true, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
  const asked = post({ ...cluster, path, body });
  await until(() => opened > before);
  // Time for the opening to reach the ingress, if it were sent.
  await sleep(300);
  const heir = await cluster.addWorker({ ENGINE_URL: healthy.url, ENGINE_KIND: 'openai' });
  await doomed.kill();
  const response = await asked;
  const text = await response.text();
  expect([response.status, response.headers.get('x-rtr-attempts')]).toEqual([200, '2']);
  expect(text.split('Hello there').length).toBe(2);
  expect(text).not.toMatch(/"error"/);
  expect(text.match(/"role":"assistant"/g)).toHaveLength(1);
  await heir.stop();
});

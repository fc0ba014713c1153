import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { openTestWebhooks } from '../helpers/webhooks/open-test-webhooks.ts';
import { until } from '../helpers/until.ts';
import { codeBlocks } from './pages.ts';

const listen = 'server.listen(3000);';

it('the receiver in the documentation prints events, and refuses what is not signed', async () => {
  const [program = ''] = codeBlocks(readFileSync('docs/webhooks.md', 'utf8'), 'js');
  expect(program).toContain(listen);
  const { add, endpoints, outbox, batchEvent, deliverDue } = await openTestWebhooks();
  const { endpoint, secret } = await add('https://hooks.example.com/');
  // Only the port is another one: a free one, which it reports.
  const code = program.replace(listen, 'server.listen(0, () => console.log(server.address().port));');
  const env = { ...process.env, OPENAI_WEBHOOK_SECRET: secret };
  const words = ['--input-type=module', '-e', code];
  const receiver = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(async () => {
    receiver.kill('SIGKILL');
    if (receiver.exitCode === null && receiver.signalCode === null) await once(receiver, 'exit');
  });
  let [output, errors] = ['', ''];
  receiver.stdout.on('data', (piece) => (output += String(piece)));
  receiver.stderr.on('data', (piece) => (errors += String(piece)));
  await until(() => /^\d+\n/.test(output));
  const url = `http://127.0.0.1:${output.trim()}/`;
  const signed = { 'webhook-id': 'wh_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
  const headers = { ...signed, 'webhook-signature': 'v1,bm8=' };
  const body = '{"type":"batch.completed","data":{"id":"batch_forged"}}';
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(400);
  expect(await endpoints.change(endpoint.id, { url })).toBe(true);
  await outbox.emit(batchEvent());
  expect(await deliverDue()).toEqual(['delivered']);
  await until(() => output.endsWith('batch.completed batch_1\n'));
  expect(output).not.toContain('batch_forged');
  expect(errors).toMatch(/does not match/);
});

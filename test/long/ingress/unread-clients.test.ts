import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serviceNodeFlags } from '#services/rtr/bootstrap/service-node-flags.mjs';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { openRaw } from '../../helpers/clients/raw-http.ts';
import { chatRequest, startScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { metricOf } from '../../helpers/cluster/worker-admin.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const clients = 500;

const cluster = useStarted(() => startScriptedCluster({ ingressFlags: serviceNodeFlags }));

const metric = async (name: string): Promise<number> => (await metricOf(cluster.adminUrl, name)) ?? Number.NaN;

it('500 clients that read nothing leave an ingress below twice its memory, and it serves others', async () => {
  let running = 0;
  const piece = `data: ${'x'.repeat(8 * 1024)}\n\n`;
  const handler: JobHandler = async (_, reply, signal) => {
    running += 1;
    while (!signal.aborted) {
      for (let at = 0; at < 8; at += 1) reply.write(piece);
      // Faster, NATS would fall behind before the clients do.
      await sleep(400);
    }
    running -= 1;
    throw signal.reason;
  };
  await cluster.addScripted({ id: 'flood', models: [{ id: 'flood', capabilities: ['stream'] }], handler });
  await cluster.addScripted();
  for (let at = 0; at < 50; at += 1) await (await cluster.post([{ write: 'data: x\n\n' }], { stream: true })).text();
  const before = await metric('process_resident_memory_bytes');
  const body = JSON.stringify(chatRequest([], { model: 'flood', stream: true }));
  const head = `host: x\r\nauthorization: Bearer ${cluster.key}\r\ncontent-length: ${body.length}`;
  const unread = await Promise.all(Array.from({ length: clients }, () => openRaw(cluster.url)));
  for (const { socket } of unread) {
    socket.pause();
    socket.write(`POST /api/openai/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  }
  let most = 0;
  // Each of them is ended sooner or later.
  await until(async () => {
    most = Math.max(most, await metric('process_resident_memory_bytes'));
    return (await metric('rtr_unread_answers_total')) >= clients / 2;
  }, 150_000);
  const answer = await cluster.post([{ write: 'data: still\n\n' }], { stream: true });
  expect(await answer.text()).toContain('still');
  const after = await metric('process_resident_memory_bytes');
  const figures = [before, most, after].map((bytes) => Math.round(bytes / 1024 ** 2)).join(', ');
  expect(after, `MiB before, at most, after: ${figures}`).toBeLessThan(2 * before);
  // The worker is told to stop.
  await until(() => running <= clients / 2);
  for (const { socket } of unread) socket.destroy();
  for (const name of ['rtr_open_requests', 'rtr_unread_bytes']) await until(async () => (await metric(name)) === 0);
  await until(() => running === 0);
});

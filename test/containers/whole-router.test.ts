// @module-tag docker
import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { buildImage, wholeImage } from '../helpers/compose/build-image.ts';
import { containerLogs, docker } from '../helpers/compose/run-command.ts';
import { until } from '../helpers/until.ts';

it('the image with NATS and Redis is a whole router, and keeps its data in /data', async () => {
  await buildImage(wholeImage, 'all');
  const name = `rtr-test-${randomBytes(4).toString('hex')}`;
  const port = await findFreePort();
  onTestFinished(async () => {
    await docker('rm', '--force', name);
    await docker('volume', 'rm', name);
  });
  await docker('run', '--detach', '--name', name, '--publish', `${port}:8484`, '--volume', `${name}:/data`, wholeImage);
  const chat = async (key: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/openai/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'auto', messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    return response.json();
  };
  const answers = { choices: [{ message: { role: 'assistant' } }] };
  await until(async () => expect(await containerLogs(name)).toContain('Model Router is up'), 60_000);
  const key = /Your router key: (\S+)/.exec(await containerLogs(name))?.[1] ?? '';
  expect(await chat(key)).toMatchObject(answers);

  await docker('stop', '--time', '20', name);
  expect((await docker('inspect', '--format', '{{.State.ExitCode}}', name)).trim()).toBe('0');
  await docker('start', name);
  await until(async () => expect(await chat(key)).toMatchObject(answers), 60_000);
}, 400_000);

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

it('a box joins a router from the image, serves, and ends when it is revoked', async () => {
  await buildImage(wholeImage, 'all');
  const name = `rtr-test-${randomBytes(4).toString('hex')}`;
  const names = { router: name, engine: `${name}-engine`, box: `${name}-box` };
  onTestFinished(async () => {
    await docker('rm', '--force', '--volumes', ...Object.values(names));
    await docker('network', 'rm', name);
  });
  await docker('network', 'create', name);
  const start = (container: string, settings: readonly string[], ...command: string[]) =>
    docker('run', '--detach', '--name', container, '--network', name, ...settings, wholeImage, ...command);
  await start(names.router, [], 'up', '--expose');
  await start(names.engine, ['--env', 'PORT=8000', '--env', 'DEMO_MODELS=far'], 'demo-engine');
  await until(async () => expect(await containerLogs(name)).toContain('Model Router is up'), 60_000);
  const key = /Your router key: (\S+)/.exec(await containerLogs(name))?.[1] ?? '';

  const line = await docker('exec', name, 'rtr', 'invite', 'worker', '--name', 'joes-box');
  const invitation = line.trim().split(' ').at(-1) ?? '';
  await start(names.box, ['--env', `ENGINE_URLS=http://${names.engine}:8000`], 'join', invitation);
  const boxSays = (text: string) => until(async () => expect(await containerLogs(names.box)).toContain(text), 60_000);
  await boxSays('joined as joes-box, 1 engine, 1 model');
  const ask = `fetch('http://127.0.0.1:8484/api/openai/chat/completions', { method: 'POST', headers: {
    authorization: 'Bearer ${key}', 'content-type': 'application/json' }, body: JSON.stringify({
    model: 'far', messages: [{ role: 'user', content: 'Hello!' }] }) }).then(
    (answer) => console.log(answer.status, answer.headers.get('x-rtr-worker')))`;
  expect(await docker('exec', name, 'node', '-e', ask)).toMatch(/^200 joes-box\./);

  await docker('exec', name, 'rtr', 'credentials', 'revoke', 'joes-box');
  await boxSays('does not accept joes-box any more');
  await until(async () =>
    expect((await docker('inspect', '--format', '{{.State.ExitCode}}', names.box)).trim()).toBe('78'),
  );
}, 400_000);

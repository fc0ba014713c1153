import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createLogRelay } from '#services/rtr/logs/log-relay.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { until } from '../../../helpers/until.ts';

function follow(part: string, format: 'json' | 'pretty') {
  const folder = temporaryFolder();
  const output = new PassThrough();
  const child = Object.assign(new EventEmitter(), { stdout: new PassThrough(), stderr: new PassThrough() });
  const relay = createLogRelay(output, format, folder);
  relay.follow(part, child as unknown as Parameters<typeof relay.follow>[1]);
  let shown = '';
  output.setEncoding('utf8').on('data', (text: string) => (shown += text));
  return { relay, child, shown: () => shown, file: () => readFileSync(join(folder, `${part}.log`), 'utf8') };
}

const ready = JSON.stringify({ level: 30, time: 0, service: 'ingress', msg: 'ingress is ready' });
const crash = ['file:///main.ts:3', '', 'Error: listen EADDRINUSE', '    at main (file:///main.ts:3)'];

it('writes every line of a part into its file, and passes JSON on unchanged', async () => {
  const { child, shown, file } = follow('ingress', 'json');
  child.stdout.write(`${ready}\n`);
  await until(() => expect(file()).toBe(`${ready}\n`));
  expect(shown()).toBe(`${ready}\n`);
});

it('shows a person one line of a crash, and keeps all of it in the file', async () => {
  const { child, shown, file } = follow('ingress', 'pretty');
  child.stdout.write(`${ready}\n`);
  child.stderr.write(`${crash.join('\n')}\n`);
  await until(() => expect(file().split('\n')).toHaveLength(5));
  expect(shown()).toMatch(/^\S+ {2}ingress: Error: listen EADDRINUSE\n$/);
});

it('keeps what the servers say to their files', async () => {
  const { child, shown, file } = follow('nats', 'json');
  child.stderr.write('[7] [ERR] an error\n');
  await until(() => expect(file()).toContain('"msg":"[7] [ERR] an error"'));
  expect(shown()).toBe('');
});

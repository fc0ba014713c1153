/**
 * Records real answers of llama-server for the replay: `node test/helpers/upstreams/record-llama-server.ts`.
 * Needs a llama-server (see get-llama-server.sh) and writes into test/fixtures/engines/llama-cpp.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { llamaCases, overlong } from './llama-cpp-cases.ts';
import type { Exchange } from './replay-engine.ts';
import { findLlamaServer, startLlamaServer } from './start-llama-server.ts';

const folder = 'test/fixtures/engines/llama-cpp';

const program = findLlamaServer();
if (program === undefined)
  throw new Error('there is no llama-server here: run test/helpers/upstreams/get-llama-server.sh');
const version = spawnSync(program, ['--version'], { encoding: 'utf8' });
const server = await startLlamaServer(program);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const index: Exchange[] = [];
try {
  for (const { name, method, path, request } of llamaCases) {
    const answer = await fetch(server.url + path, {
      method,
      ...(request && { body: JSON.stringify(request), headers: { 'content-type': 'application/json' } }),
    });
    const type = answer.headers.get('content-type') ?? '';
    const file = `${name}.${type.startsWith('text/event-stream') ? 'sse' : 'json'}`;
    writeFileSync(join(folder, file), Buffer.from(await answer.arrayBuffer()));
    const { messages, input } = request ?? {};
    const asked = messages ? { messages } : input && { input };
    // A text too long for the engine is too long for the index.
    const when = JSON.stringify(asked ?? null).includes(overlong) ? undefined : asked;
    const headers = { 'content-type': type, server: answer.headers.get('server') ?? '' };
    index.push({ name, method, path, ...(when && { when }), status: answer.status, headers, file });
  }
} finally {
  await server.stop();
}
index.sort((a, b) => Number(b.when !== undefined) - Number(a.when !== undefined));
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
writeFileSync(
  join(folder, 'SOURCE.md'),
  `Real answers of llama.cpp's llama-server, byte for byte, made by test/helpers/upstreams/record-llama-server.ts with the model of
test/helpers/upstreams/make-gguf.ts, whose weights are random: its words have no meaning.

    ${(version.stdout + version.stderr).trim().replaceAll('\n', '\n    ')}
`,
);
console.info(`recorded ${index.length} answers in ${folder}`);

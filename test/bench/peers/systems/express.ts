import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { Program } from './program.ts';
import { relayedTarget, type SystemKind } from './system.ts';

/** The minimum cost of a proxy in Node. */
export const express: SystemKind = {
  name: 'express',
  title: 'Express and undici',
  settings:
    'a bare proxy of 25 lines (`express-proxy.ts`), one process, connections kept, Node in production mode, no log',
  socketsPerStream: 2,
  avoidsHungUpstreams: false,

  install: () => Promise.resolve(`Express ${versionOf('express')}, undici ${versionOf('undici')}`),

  async start({ upstreams: [upstream = 0] }) {
    const port = await findFreePort();
    const program = new Program('express', process.execPath, [join(import.meta.dirname, 'express-proxy.ts')], {
      PORT: String(port),
      UPSTREAM: `http://127.0.0.1:${upstream}`,
    });
    await program.untilAnswers(`http://127.0.0.1:${port}/health`, 20);
    return {
      target: (route, access) => Promise.resolve(relayedTarget(port, route, access)),
      roots: () => [program.pid],
      stop: () => program.stop(),
    };
  },
};

function versionOf(name: string): string {
  const file = join(import.meta.dirname, '../../../../node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

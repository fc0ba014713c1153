import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { installOnce } from '../../../helpers/processes/install-once.ts';
import { Program } from './program.ts';
import { hungAfterMs, relayedTarget, type StartOptions, type SystemKind } from './system.ts';

const run = promisify(execFile);
let program = 'nginx';

/** A proxy that has no knowledge of models: the minimum cost of a proxy. */
export const nginx: SystemKind = {
  name: 'nginx',
  title: 'nginx',
  settings:
    'one process for each core, upstream connections kept, no buffering of answers, no access log; of several upstreams one without a first byte for two seconds is left out for ten',
  socketsPerStream: 2,
  avoidsHungUpstreams: true,

  /** Uses the machine's own nginx, or the one of Debian's package, unpacked without installing it. */
  async install() {
    const found = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
      .map((folder) => join(folder, 'nginx'))
      .find((file) => existsSync(file));
    program = found ?? join(await unpackPackage(), 'usr/sbin/nginx');
    const { stderr } = await run(program, ['-v']);
    return /nginx\/(\S+)/.exec(stderr)?.[1] ?? stderr.trim();
  },

  async start(options) {
    const port = await findFreePort();
    mkdirSync(options.folder, { recursive: true });
    const file = join(options.folder, 'nginx.conf');
    writeFileSync(file, configuration(port, options));
    const server = new Program('nginx', program, ['-p', options.folder, '-c', file, '-e', 'stderr']);
    await server.untilAnswers(`http://127.0.0.1:${port}/up`, 20);
    return {
      target: (route, access) => Promise.resolve(relayedTarget(port, route, access)),
      roots: () => [server.pid],
      stop: () => server.stop(),
    };
  },
};

function unpackPackage(): Promise<string> {
  return installOnce('peers/nginx', [
    ['apt-get', 'update', '-qq'],
    ['apt-get', 'download', '-qq', 'nginx'],
    ['sh', '-c', 'dpkg -x nginx_*.deb .'],
  ]);
}

function configuration(port: number, { upstreams, folder }: StartOptions): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = kinds.map((name) => `${name}_temp_path ${folder}/${name};`);
  const avoid =
    upstreams.length > 1
      ? `proxy_read_timeout ${hungAfterMs}ms; proxy_next_upstream error timeout non_idempotent;`
      : 'proxy_read_timeout 3600s;';
  return `
daemon off;
worker_processes ${availableParallelism()};
pid ${folder}/nginx.pid;
error_log stderr error;
worker_rlimit_nofile 20000;
events { worker_connections 19900; multi_accept off; }
http {
  access_log off;
  tcp_nodelay on;
  client_max_body_size 64m;
  client_body_buffer_size 4m;
  keepalive_requests 1000000;
  keepalive_timeout 3600s;
  ${temporary.join('\n  ')}
  upstream bench {
    ${upstreams.map((each) => `server 127.0.0.1:${each} max_fails=1 fail_timeout=10s;`).join('\n    ')}
    keepalive 512;
    keepalive_requests 1000000;
    keepalive_timeout 3600s;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /up { return 200; }
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      ${avoid}
    }
  }
}
`;
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findServer } from '#services/rtr/up/servers/find-server.ts';
import { ensureServers, ServerMissingError } from '#services/rtr/up/servers/install-server.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';

let folder: string;
const said: string[] = [];
const say = (line: string) => said.push(line);

beforeEach(() => {
  folder = temporaryFolder();
  said.length = 0;
});

describe('a server program', () => {
  it('is found on the PATH, including valkey-server in place of redis-server', async () => {
    const file = program('valkey-server');
    expect(await findServer('redis', folder, [])).toBe(file);
  });

  it('is ignored when it is not executable', async () => {
    writeFileSync(join(folder, 'nats-server'), '', { mode: 0o644 });
    expect(await findServer('nats', folder, [])).toBeUndefined();
  });

  it('is installed with apt-get as root, and the command is printed', async () => {
    const install = `case "$*" in *install*nats-server) ${touch('nats-server')};; esac`;
    program('apt-get', `echo "$@" >> "${folder}/runs"\n${install}`);
    program('sudo', `shift; exec "$@"`);
    expect(await ensureServers(['nats'], { PATH: `${folder}:/bin` }, say, [])).toEqual({
      nats: join(folder, 'nats-server'),
    });
    expect(said.join('\n')).toMatch(/NATS is not installed: running .*apt-get install -y/);
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toContain('install -y -qq --no-install-recommends nats-server');
  });

  it('is installed with brew where there is no apt-get', async () => {
    program('brew', `case "$*" in *install*redis) ${touch('redis-server')};; esac`);
    expect(await ensureServers(['redis'], { PATH: folder }, say, [])).toEqual({ redis: join(folder, 'redis-server') });
  });

  it('is reported, after the output of the package manager, if it cannot be installed', async () => {
    program('brew', `[ "$1" = --version ] || { echo "no such formula" >&2; exit 1; }`);
    const failure = ensureServers(['redis'], { PATH: folder }, say, []);
    await expect(failure).rejects.toThrow(ServerMissingError);
    await expect(failure).rejects.toThrow(
      /^Redis is missing\. Install it:\n[^]* REDIS_URL to the address of [^\n]*\.$/,
    );
    expect(said).toContain('no such formula');
  });

  it('is reported together with the other one, with one command for each system', async () => {
    await expect(ensureServers(['nats', 'redis'], { PATH: folder }, say, [])).rejects.toThrow(
      [
        'NATS and Redis are missing. Install them:',
        '  Debian, Ubuntu, WSL  sudo apt-get install nats-server redis-server',
        '  Fedora               the package of https://github.com/nats-io/nats-server/releases, and sudo dnf install valkey',
        '  macOS                brew install nats-server redis',
        'Or set NATS_URL and REDIS_URL to the address of a running server.',
      ].join('\n'),
    );
  });
});

function program(name: string, script = ''): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return file;
}

/** Returns a shell command that puts an executable program into the folder, made of builtins where the PATH is empty. */
function touch(name: string): string {
  return `echo > "${join(folder, name)}"; /bin/chmod 755 "${join(folder, name)}"`;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { hostNode } from '../helpers/processes/run-command.ts';
import { until } from '../helpers/until.ts';
import { runTool } from './run-tool.ts';

/** The file that `npm run package` writes. */
const packedFile = 'dist-package.tgz';

/** Milliseconds that an installation and the first start may take, with the download of Node. */
const startMs = 180_000;

/** Builds the package that npm installs, with the console and the documentation, and the list of what is in it. */
export async function buildPackage(folder: string, version: string): Promise<string> {
  await runTool('npm', ['run', '--silent', 'docs:site']);
  await runTool('npm', ['run', '--silent', 'package']);
  const file = join(folder, `model-router-rtr-${version}.tgz`);
  copyFileSync(packedFile, file);
  const parts = [
    'sbom',
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--omit',
    'dev',
    '--package-lock-only',
  ];
  // npm calls the component after the folder of the project.
  const sbom = JSON.parse(await runTool('npm', parts)) as { metadata: { component: { name: string } } };
  sbom.metadata.component.name = '@model-router/rtr';
  writeFileSync(join(folder, `model-router-rtr-${version}.cdx.json`), `${JSON.stringify(sbom, undefined, 2)}\n`);
  return file;
}

/** Installs the package in an empty home folder, starts a router of it, and asks it for an answer and for the documentation. */
export async function tryPackage(file: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'rtr-release-'));
  const port = await findFreePort();
  const { NODE_EXTRA_CA_CERTS, npm_config_registry: registry } = process.env;
  const router = spawn('npx', ['--yes', `file:${file}`, 'up'], {
    cwd: home,
    env: {
      HOME: home,
      PATH: [join(hostNode(), '..'), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin'].join(delimiter),
      PORT: String(port),
      ...(NODE_EXTRA_CA_CERTS !== undefined && { NODE_EXTRA_CA_CERTS }),
      ...(registry !== undefined && { npm_config_registry: registry }),
    },
    // A process group of its own, to be stopped as a terminal does at Ctrl-C.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [router.stdout, router.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(router, 'close');
  try {
    await until(() => {
      if (router.exitCode !== null) throw new Error(`the package does not start: ${output}`);
      return output.includes('Model Router is up');
    }, startMs);
    const key = /Your router key: (\S+)/.exec(output)?.[1] ?? '';
    const url = `http://127.0.0.1:${port}`;
    await until(() => askForAnswer(url, key), 30_000);
    const page = await fetch(`${url}/docs/upgrades`);
    if (!page.ok) throw new Error(`the package has no documentation: ${page.status}`);
  } finally {
    if (router.pid !== undefined && router.exitCode === null) process.kill(-router.pid, 'SIGINT');
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Asks a router for an answer.
 * @throws Error if the answer is another
 */
export async function askForAnswer(url: string, key: string): Promise<void> {
  const response = await fetch(`${url}/api/openai/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'auto', messages: [{ role: 'user', content: 'Hello!' }] }),
  });
  const text = await response.text();
  if (!response.ok || !text.includes('"finish_reason":"stop"'))
    throw new Error(`no answer: ${response.status} ${text}`);
}

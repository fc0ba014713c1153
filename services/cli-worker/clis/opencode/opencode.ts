import { randomBytes } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { RouterError } from '#shared/core/errors.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { killOnAbort } from '../../process/kill-on-abort.ts';
import { lineReader } from '../../process/line-reader.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import type { Workspace } from '../../process/workspace.ts';
import type { Cli, CliSession, SessionStart } from '../cli.ts';
import { opencodeConfig } from './opencode-config.ts';
import { OpencodeHttp } from './opencode-http.ts';
import { OpencodeSession } from './opencode-session.ts';

/** The keys of the providers that it knows by name; others are let through by the operator. */
const allowed = [
  'OPENCODE_API_KEY',
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'OPENROUTER_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
];

/** opencode, driven over the server that it is. Each conversation is a session of its own that is deleted afterwards. */
export const opencode: Cli = {
  kind: 'opencode',
  capabilities: ['stream', 'thinking'],
  singleUse: false,
  start: startOpencode,
};

async function startOpencode({ starter, workspace, signal }: SessionStart): Promise<CliSession> {
  const password = randomBytes(24).toString('base64url');
  const dataFolder = await makeDataFolder(workspace, starter);
  const process = starter.start({
    args: ['serve', '--hostname', '127.0.0.1', '--port', '0', '--pure'],
    workspace,
    allowed,
    set: {
      // Everybody on this machine can reach its port.
      OPENCODE_SERVER_PASSWORD: password,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(starter.variable('OPENCODE_CONFIG_CONTENT'))),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
      XDG_DATA_HOME: dataFolder,
      XDG_CONFIG_HOME: join(workspace.home, '.config'),
      XDG_CACHE_HOME: join(workspace.home, '.cache'),
      XDG_STATE_HOME: join(workspace.home, '.state'),
    },
  });
  return killOnAbort(process, signal, async () => {
    const http = new OpencodeHttp(await addressOf(process), password);
    const session = new OpencodeSession(process, http);
    await session.ready(signal);
    return session;
  });
}

/** Its data folder, with nothing in it but the user's login. */
async function makeDataFolder({ home }: Workspace, starter: ProcessStarter): Promise<string> {
  const data = join(home, '.local', 'share');
  await mkdir(join(data, 'opencode'), { recursive: true });
  const usersData = starter.variable('XDG_DATA_HOME') ?? join(starter.variable('HOME') ?? '', '.local', 'share');
  await symlink(join(usersData, 'opencode', 'auth.json'), join(data, 'opencode', 'auth.json'));
  return data;
}

/** Where it listens, as it says when it does. */
async function addressOf(process: CliProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  process.onOutput = lineReader((line) => {
    const address = /listening on (http:\S+)/.exec(line)?.[1];
    if (address !== undefined) resolve(address);
  });
  const ended = process.ended.then(async () => {
    throw await process.failure();
  });
  const address = await Promise.race([promise, ended]);
  if (!URL.canParse(address)) throw new RouterError('upstream_failed', 'The CLI did not say where it listens.');
  return address;
}

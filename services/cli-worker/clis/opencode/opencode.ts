import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { RouterError } from '#shared/core/errors.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { lineReader } from '../../process/line-reader.ts';
import { conversationDialogue } from '../../answer/conversation-dialogue.ts';
import type { ConversationCli, ConversationSession, SessionStart } from '../cli.ts';
import { linkLogin, logins } from '../logins.ts';
import { opencodeConfig } from './opencode-config.ts';
import { OpencodeHttp } from './opencode-http.ts';
import { OpencodeSession } from './opencode-session.ts';
import { startWarmUpUpstream } from './warm-up-upstream.ts';

/** opencode, driven over its HTTP server. Each conversation is a session of its own that is deleted afterwards. */
export const opencode: ConversationCli = {
  kind: 'opencode',
  traceName: 'opencode',
  capabilities: ['stream', 'thinking'],
  dialogue: conversationDialogue,
  singleUse: false,
  start: startOpencode,
};

async function startOpencode({ starter, workspace, signal }: SessionStart): Promise<ConversationSession> {
  const password = randomBytes(24).toString('base64url');
  const data = join(workspace.home, '.local', 'share');
  await linkLogin(logins.opencode, starter.variable, join(data, 'opencode'));
  const warmUp = await startWarmUpUpstream();
  try {
    const process = starter.start({
      args: ['serve', '--hostname', '127.0.0.1', '--port', '0', '--pure'],
      workspace,
      allowed: logins.opencode.keys,
      set: {
        // Every user of this machine can reach its port.
        OPENCODE_SERVER_PASSWORD: password,
        OPENCODE_CONFIG_CONTENT: JSON.stringify(
          opencodeConfig(starter.variable('OPENCODE_CONFIG_CONTENT'), warmUp.url),
        ),
        // Conversations are never on disk, and nothing waits for the disk.
        OPENCODE_DB: ':memory:',
        OPENCODE_DISABLE_PROJECT_CONFIG: '1',
        OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
        OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_CLAUDE_CODE: '1',
        XDG_DATA_HOME: data,
        XDG_CONFIG_HOME: join(workspace.home, '.config'),
        XDG_CACHE_HOME: join(workspace.home, '.cache'),
        XDG_STATE_HOME: join(workspace.home, '.state'),
      },
    });
    return await process.killOnAbort(signal, async () => {
      const http = new OpencodeHttp(await addressOf(process), password);
      const session = new OpencodeSession(process, http);
      await session.ready(signal);
      return session;
    });
  } finally {
    warmUp.close();
  }
}

/** The address that it prints when it listens. */
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

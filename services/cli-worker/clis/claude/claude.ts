import { killOnAbort } from '../../process/kill-on-abort.ts';
import type { Cli, CliSession, SessionStart } from '../cli.ts';
import { hasKey, logins } from '../logins.ts';
import { ClaudeSession } from './claude-session.ts';

/** Its keys and addresses. Without a key it goes by the login that is kept in its own folder. */
const allowed = [...logins.claude.keys, 'ANTHROPIC_BASE_URL', 'ANTHROPIC_CUSTOM_HEADERS'];

/**
 * No tools, no MCP servers, no settings files, no skills, nothing saved: what is left is the model. What would ask a
 * person is refused.
 */
const args = [
  ['--print', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
  ['--include-partial-messages', '--tools', '', '--strict-mcp-config', '--setting-sources', ''],
  ['--disable-slash-commands', '--no-session-persistence', '--permission-prompts', 'none'],
].flat();

/**
 * Claude Code, driven over its streamed input. It keeps what it was told until it ends, so each process holds one
 * conversation.
 */
export const claude: Cli = {
  kind: 'claude',
  capabilities: ['stream', 'vision', 'thinking'],
  singleUse: true,
  start: startClaude,
};

async function startClaude({ starter, workspace, models, signal }: SessionStart): Promise<CliSession> {
  const [model] = models;
  const has = (name: string): boolean => starter.variable(name) !== undefined;
  // With a key it needs no login, and so can leave out all that it would tell the model of this machine.
  const bare = has('ANTHROPIC_API_KEY') || has('ANTHROPIC_AUTH_TOKEN');
  const login = hasKey(logins.claude, starter.variable)
    ? {}
    : { CLAUDE_CONFIG_DIR: logins.claude.folder(starter.variable) };
  const process = starter.start({
    args: [...args, '--model', model, ...(bare ? ['--bare'] : [])],
    workspace,
    allowed,
    set: {
      ...login,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
      // It would read the files of this machine that a client names with an @.
      CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
      DISABLE_AUTOUPDATER: '1',
      // A failure is the router's to move to another worker.
      CLAUDE_CODE_MAX_RETRIES: '0',
    },
  });
  const session = new ClaudeSession(process, model);
  await killOnAbort(process, signal, () => session.ready());
  return session;
}

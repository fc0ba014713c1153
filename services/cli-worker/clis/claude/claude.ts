import type { Cli, CliSession, SessionStart } from '../cli.ts';
import { hasKey, logins } from '../logins.ts';
import { ClaudeSession } from './claude-session.ts';

/** Its keys and addresses. Without a key it uses the login in its own folder. */
const allowed = [...logins.claude.keys, 'ANTHROPIC_BASE_URL', 'ANTHROPIC_CUSTOM_HEADERS'];

/**
 * Leaves Claude Code nothing but the model: no tools, MCP servers, settings files or skills, nothing saved. Permission
 * prompts are refused.
 */
const args = [
  ['--print', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
  ['--include-partial-messages', '--tools', '', '--strict-mcp-config', '--setting-sources', ''],
  ['--disable-slash-commands', '--no-session-persistence', '--permission-prompts', 'none'],
].flat();

/** Claude Code, driven over its streamed input. A process remembers its conversation, so it holds only one. */
export const claude: Cli = {
  kind: 'claude',
  traceName: 'anthropic',
  capabilities: ['stream', 'vision', 'thinking'],
  takesThinking: true,
  singleUse: true,
  start: startClaude,
};

async function startClaude({ starter, workspace, models, signal }: SessionStart): Promise<CliSession> {
  const [model] = models;
  const has = (name: string): boolean => starter.variable(name) !== undefined;
  // Leaves out the text about this machine from the model's prompt. Only possible with a key: it also skips the login.
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
      // Otherwise it reads files of this machine that a client names with an @.
      CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
      DISABLE_AUTOUPDATER: '1',
      // A failed request moves to another worker.
      CLAUDE_CODE_MAX_RETRIES: '0',
    },
  });
  const session = new ClaudeSession(process, model);
  await process.killOnAbort(signal, () => session.ready());
  return session;
}

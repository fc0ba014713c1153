import type { JsonObject } from '#shared/core/json.ts';
import type { Cli, SessionStart } from '../cli.ts';
import { hasKey, logins } from '../logins.ts';
import { claudeDialogue } from './claude-dialogue.ts';
import type { ClaudeRequest } from './claude-request.ts';
import { ClaudeSession } from './claude-session.ts';
import { probeClaude } from './probe-claude.ts';

/** Variables with keys and addresses. Without a key, Claude Code uses the login in its own folder. */
const allowed = [...logins.claude.keys, 'ANTHROPIC_BASE_URL', 'ANTHROPIC_CUSTOM_HEADERS'];

/**
 * Arguments that leave Claude Code only the model and the client's tools. It gets no tools of its own, no other MCP servers, no settings
 * files and no skills, and saves nothing. It asks for the permission to call a tool in its streamed output.
 */
const args = [
  ['--print', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
  ['--include-partial-messages', '--tools', '', '--strict-mcp-config', '--setting-sources', ''],
  ['--disable-slash-commands', '--no-session-persistence', '--permission-prompt-tool', 'stdio'],
].flat();

/** Claude Code, driven over its streamed input. A process remembers its conversation, so it holds only one. */
export const claude: Cli<ClaudeRequest, JsonObject> = {
  kind: 'claude',
  traceName: 'anthropic',
  capabilities: ['stream', 'vision', 'thinking'],
  dialogue: claudeDialogue,
  singleUse: true,
  start: (options) => startClaude(options, {}),
  probe: (options) => probeClaude((set) => startClaude(options, set), options),
};

/** @param set variables that override those of the worker */
async function startClaude(
  { starter, workspace, models, signal }: SessionStart,
  set: Record<string, string>,
): Promise<ClaudeSession> {
  const [model] = models;
  const has = (name: string): boolean => (set[name] ?? starter.variable(name)) !== undefined;
  // This option leaves the text about this machine out of the model's prompt. It needs a key, because it also skips the login.
  const bare = has('ANTHROPIC_API_KEY') || has('ANTHROPIC_AUTH_TOKEN');
  const login = hasKey(logins.claude, starter.variable)
    ? {}
    : { CLAUDE_CONFIG_DIR: logins.claude.folder(starter.variable) };
  const process = starter.start({
    args: [...args, '--model', model, ...(bare ? ['--bare'] : [])],
    workspace,
    allowed,
    variables: {
      ...login,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
      // Otherwise Claude Code reads files of this machine that a client names with an @.
      CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
      DISABLE_AUTOUPDATER: '1',
      // The router moves a failed request to another worker.
      CLAUDE_CODE_MAX_RETRIES: '0',
      CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
      // The client manages the history.
      DISABLE_COMPACT: '1',
      // These two let the client's tools keep their names, and the model see all of them.
      CLAUDE_AGENT_SDK_MCP_NO_PREFIX: '1',
      ENABLE_TOOL_SEARCH: 'false',
      ...set,
    },
  });
  const session = new ClaudeSession(process, model);
  await process.killOnAbort(signal, () => session.ready());
  return session;
}

import type { JsonObject } from '#shared/core/json.ts';
import type { Cli, StartOptions } from '../cli.ts';
import { hasKey, logins } from '../logins.ts';
import { claudeDialogue } from './claude-dialogue.ts';
import type { ClaudeRequest } from './claude-request.ts';
import { ClaudeSession } from './claude-session.ts';
import { probeClaude } from './probe-claude.ts';

/** Variables with keys and addresses. Without a key, Claude Code uses the login in its own folder. */
const allowedVariables = [...logins.claude.keyVariables, 'ANTHROPIC_BASE_URL', 'ANTHROPIC_CUSTOM_HEADERS'];

/**
 * Arguments that leave Claude Code only the model and the client's tools. It gets no tools of its own, no other MCP servers, no settings
 * files and no skills, and saves nothing. In its streamed output it asks for permission to call a tool.
 */
const args = [
  ['--print', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
  ['--include-partial-messages', '--tools', '', '--strict-mcp-config', '--setting-sources', ''],
  ['--disable-slash-commands', '--no-session-persistence', '--permission-prompt-tool', 'stdio'],
].flat();

/** Claude Code, driven over its streamed input. A process remembers its conversation, so each process holds only one. */
export const claude: Cli<ClaudeRequest, JsonObject> = {
  kind: 'claude',
  traceName: 'anthropic',
  capabilities: ['stream', 'vision', 'thinking'],
  dialogue: claudeDialogue,
  isSingleUse: true,
  start: (options) => startClaude(options, {}),
  probe: (options) => probeClaude((overrides) => startClaude(options, overrides), options),
};

/** @param overrides variables that override the worker's variables */
async function startClaude(
  { starter, workspace, models, signal }: StartOptions,
  overrides: Record<string, string>,
): Promise<ClaudeSession> {
  const [model] = models;
  const isSet = (name: string): boolean => (overrides[name] ?? starter.readVariable(name)) !== undefined;
  // `--bare` leaves the text about this machine out of the model's prompt. The option needs a key, because it also skips the login.
  const isBare = isSet('ANTHROPIC_API_KEY') || isSet('ANTHROPIC_AUTH_TOKEN');
  const loginVariables = hasKey(logins.claude, starter.readVariable)
    ? {}
    : { CLAUDE_CONFIG_DIR: logins.claude.folder(starter.readVariable) };
  const process = starter.start({
    args: [...args, '--model', model, ...(isBare ? ['--bare'] : [])],
    workspace,
    allowedVariables,
    variables: {
      ...loginVariables,
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
      // These two variables keep the names of the client's tools, and show the model all of these tools.
      CLAUDE_AGENT_SDK_MCP_NO_PREFIX: '1',
      ENABLE_TOOL_SEARCH: 'false',
      ...overrides,
    },
  });
  const session = new ClaudeSession(process, model);
  await process.killOnFailure(signal, () => session.waitUntilReady());
  return session;
}

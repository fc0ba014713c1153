import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '#shared/core/json.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import { conversationDialogue } from '../../answer/conversation-dialogue.ts';
import type { ConversationCli, ConversationSession, SessionStart } from '../cli.ts';
import { hasKey, linkLogin, logins } from '../logins.ts';
import { CodexSession } from './codex-session.ts';

/** The provider that Codex uses with a key. */
const provider = 'router_upstream';
const usualBaseUrl = 'https://api.openai.com/v1';

/** What Codex can do beyond asking its model, as far as it can be switched off. */
const features = [
  'shell_tool unified_exec shell_snapshot view_image image_generation sleep_tool workspace_dependencies',
  'browser_use browser_use_external in_app_browser computer_use multi_agent goals memories',
  'apps plugins remote_plugin tool_suggest skill_search hooks',
].flatMap((line) => line.split(' '));

/** Settings that leave Codex nothing but the model: no tools, no texts about the machine, no telemetry. */
const modelOnly: readonly string[] = [
  ...features.map((feature) => `features.${feature}=false`),
  'web_search="disabled"',
  'include_permissions_instructions=false',
  'include_environment_context=false',
  'include_apps_instructions=false',
  'skills.include_instructions=false',
  'analytics.enabled=false',
  'check_for_update_on_startup=false',
  'history.persistence="none"',
];

/** Codex, driven over its app server. Each conversation is a thread of its own that is not saved. */
export const codex: ConversationCli = {
  kind: 'codex',
  traceName: 'openai',
  capabilities: ['stream', 'thinking'],
  dialogue: conversationDialogue,
  singleUse: false,
  start: startCodex,
};

async function startCodex({ starter, workspace, models, signal }: SessionStart): Promise<ConversationSession> {
  const home = join(workspace.home, '.codex');
  const keyed = hasKey(logins.codex, starter.variable);
  if (keyed) await mkdir(home);
  else await linkLogin(logins.codex, starter.variable, home);
  const settings = [...modelOnly, ...(keyed ? keyedProvider(starter) : [])];
  const process = starter.start({
    args: ['app-server', ...settings.flatMap((setting) => ['-c', setting])],
    workspace,
    allowed: logins.codex.keys,
    set: { CODEX_HOME: home },
  });
  const threads: JsonObject = keyed ? { modelProvider: provider } : {};
  const session = new CodexSession(process, { ...threads, cwd: workspace.cwd });
  await process.killOnAbort(signal, () => session.ready(models[0]));
  return session;
}

/** The provider's settings. Codex retries nothing: a failed request moves to another worker. */
function keyedProvider(starter: ProcessStarter): string[] {
  const baseUrl = JSON.stringify(starter.variable('OPENAI_BASE_URL') ?? usualBaseUrl);
  return [
    `model_provider="${provider}"`,
    `model_providers.${provider}={name="OpenAI",base_url=${baseUrl},env_key="OPENAI_API_KEY",wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
  ];
}

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '#shared/core/json.ts';
import { ModelRefusals } from '#shared/upstream/model-refusals.ts';
import type { AnswerPart, Cli, StartOptions } from '../cli.ts';
import { hasKey, linkLogin, logins } from '../logins.ts';
import { type CodexRequest, readCodexRequest } from './codex-request.ts';
import { CodexSession } from './codex-session.ts';
import { probeCodex } from './probe-codex.ts';
import { createItemsDialogue } from '../items-dialogue.ts';

/** The dialogue with Codex, which reads items of the Responses format. */
export const codexDialogue = createItemsDialogue(readCodexRequest);

/** Name of the provider that Codex uses with a key. */
const provider = 'router_upstream';
const defaultBaseUrl = 'https://api.openai.com/v1';

/** All features of Codex beyond requests to its model that can be switched off. */
const features = [
  'shell_tool unified_exec shell_snapshot view_image image_generation sleep_tool workspace_dependencies',
  'browser_use browser_use_external in_app_browser computer_use multi_agent goals memories',
  'apps plugins remote_plugin tool_suggest skill_search hooks',
].flatMap((line) => line.split(' '));

/**
 * Settings that leave Codex only the model and the client's tools. It gets no tools of its own and no texts about the machine, and sends no
 * telemetry.
 */
const modelOnlySettings: readonly string[] = [
  ...features.map((feature) => `features.${feature}=false`),
  'web_search="disabled"',
  'include_permissions_instructions=false',
  'include_environment_context=false',
  'include_apps_instructions=false',
  'skills.include_instructions=false',
  'analytics.enabled=false',
  'check_for_update_on_startup=false',
  'history.persistence="none"',
  // Otherwise Codex cuts results of tools to 10,000 bytes.
  'tool_output_token_limit=1000000000',
];

/** Efforts that Codex's upstream has refused. All processes share them. */
const refusals = new ModelRefusals();

/** Codex, driven over its app server. Each conversation has a thread of its own that is not saved. */
export const codex: Cli<CodexRequest, AnswerPart> = {
  kind: 'codex',
  traceName: 'openai',
  capabilities: ['stream', 'thinking'],
  dialogue: codexDialogue,
  isSingleUse: false,
  start: (options) => startCodex(options),
  probe: (options) => probeCodex((url) => startCodex(options, url), options),
};

/** @param probeUrl address of an upstream inside the worker, which replaces the operator's upstream */
async function startCodex(
  { starter, workspace, models, signal }: StartOptions,
  probeUrl?: string,
): Promise<CodexSession> {
  const home = join(workspace.home, '.codex');
  const hasApiKey = probeUrl !== undefined || hasKey(logins.codex, starter.readVariable);
  if (hasApiKey) await mkdir(home);
  else await linkLogin(logins.codex, starter.readVariable, home);
  const settings = [
    ...modelOnlySettings,
    ...(hasApiKey ? createProviderSettings(probeUrl ?? starter.readVariable('OPENAI_BASE_URL') ?? defaultBaseUrl) : []),
  ];
  const process = starter.start({
    args: ['app-server', ...settings.flatMap((setting) => ['-c', setting])],
    workspace,
    allowedVariables: logins.codex.keyVariables,
    variables: {
      CODEX_HOME: home,
      ...(probeUrl !== undefined && { OPENAI_API_KEY: 'probe', NO_PROXY: '127.0.0.1' }),
    },
  });
  const providerOption: JsonObject = hasApiKey ? { modelProvider: provider } : {};
  const session = new CodexSession(process, { ...providerOption, cwd: workspace.cwd }, refusals);
  await process.killOnFailure(signal, () => session.initialize(models[0]));
  return session;
}

/**
 * Returns the settings of the provider that Codex uses with a key. They make Codex retry nothing, because the router moves a failed request
 * to another worker.
 */
function createProviderSettings(url: string): string[] {
  const baseUrl = JSON.stringify(url);
  return [
    `model_provider="${provider}"`,
    `model_providers.${provider}={name="OpenAI",base_url=${baseUrl},env_key="OPENAI_API_KEY",wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
  ];
}

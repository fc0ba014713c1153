import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '#shared/core/json.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import { killOnAbort } from '../../process/kill-on-abort.ts';
import type { Cli, CliSession, SessionStart } from '../cli.ts';
import { linkLogin } from '../link-login.ts';
import { hasKey, logins } from '../logins.ts';
import { CodexSession } from './codex-session.ts';
import { codexSettings } from './codex-settings.ts';

/** The provider that it is given when it goes by a key. */
const provider = 'router_upstream';
const usualBaseUrl = 'https://api.openai.com/v1';

/** Codex, driven over its app server. Each conversation is a thread of its own that is kept nowhere. */
export const codex: Cli = {
  kind: 'codex',
  capabilities: ['stream', 'thinking'],
  singleUse: false,
  start: startCodex,
};

async function startCodex({ starter, workspace, models, signal }: SessionStart): Promise<CliSession> {
  const home = join(workspace.home, '.codex');
  const keyed = hasKey(logins.codex, starter.variable);
  if (keyed) await mkdir(home);
  else await linkLogin(logins.codex, starter.variable, home);
  const settings = [...codexSettings, ...(keyed ? keyedProvider(starter) : [])];
  const process = starter.start({
    args: ['app-server', ...settings.flatMap((setting) => ['-c', setting])],
    workspace,
    allowed: logins.codex.keys,
    set: { CODEX_HOME: home },
  });
  const threads: JsonObject = keyed ? { modelProvider: provider } : {};
  const session = new CodexSession(process, { ...threads, cwd: workspace.cwd });
  await killOnAbort(process, signal, () => session.ready(models[0]));
  return session;
}

/** A failure is the router's to move to another worker, so nothing is tried again. */
function keyedProvider(starter: ProcessStarter): string[] {
  const baseUrl = JSON.stringify(starter.variable('OPENAI_BASE_URL') ?? usualBaseUrl);
  return [
    `model_provider="${provider}"`,
    `model_providers.${provider}={name="OpenAI",base_url=${baseUrl},env_key="OPENAI_API_KEY",wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
  ];
}

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '#shared/core/json.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import { conversationDialogue } from '../../answer/conversation-dialogue.ts';
import type { ConversationCli, ConversationSession, SessionStart } from '../cli.ts';
import { hasKey, linkLogin, logins } from '../logins.ts';
import { GeminiSession } from './gemini-session.ts';

/** Its keys and addresses. Without a key it uses the login in its own folder. */
const allowed = [
  ...logins.gemini.keys,
  'GOOGLE_GEMINI_BASE_URL',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_CLOUD_LOCATION',
];

/** Gemini CLI, driven over the Agent Client Protocol. Each conversation is a session of its own. */
export const gemini: ConversationCli = {
  kind: 'gemini',
  traceName: 'gcp.gemini',
  capabilities: ['stream', 'thinking'],
  dialogue: conversationDialogue,
  singleUse: false,
  start: startGemini,
};

async function startGemini({ starter, workspace, models, signal }: SessionStart): Promise<ConversationSession> {
  const home = join(workspace.home, '.gemini');
  const systemFile = join(workspace.home, 'system.md');
  const keyed = hasKey(logins.gemini, starter.variable);
  if (keyed) await mkdir(home);
  else await linkLogin(logins.gemini, starter.variable, home);
  await writeFile(join(home, 'settings.json'), JSON.stringify(settingsWith(authOf(starter, keyed))));
  // The file must exist when Gemini CLI starts; its text is read for each session.
  await writeFile(systemFile, '', { mode: 0o600 });
  const process = starter.start({
    args: ['--acp', '--model', models[0]],
    workspace,
    allowed,
    set: { GEMINI_SYSTEM_MD: systemFile, GEMINI_CLI_NO_RELAUNCH: 'true', NO_COLOR: '1' },
  });
  const session = new GeminiSession(process, { systemFile, cwd: workspace.cwd, startModel: models[0] });
  await process.killOnAbort(signal, () => session.ready());
  return session;
}

/** Its name for how it signs in. Undefined leaves the choice to it, which an address other than Google's requires. */
function authOf({ variable }: ProcessStarter, keyed: boolean): string | undefined {
  if (!keyed) return 'oauth-personal';
  return variable('GOOGLE_GEMINI_BASE_URL') === undefined ? 'gemini-api-key' : undefined;
}

/**
 * Settings that leave Gemini CLI nothing but the model: no tools, no context files, no telemetry, and one attempt, because a
 * failed request moves to another worker.
 * @param auth its name for how it signs in
 */
function settingsWith(auth: string | undefined): JsonObject {
  return {
    general: { maxAttempts: 1, disableAutoUpdate: true, enableAutoUpdate: false, checkpointing: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    // An empty list would mean all tools, hence a name that is none.
    tools: { core: ['none'] },
    mcp: { allowed: [] },
    skills: { enabled: false },
    experimental: { enableAgents: false },
    context: { fileName: 'none.md', includeDirectoryTree: false, discoveryMaxDirs: 0 },
    security: { folderTrust: { enabled: false }, ...(auth !== undefined && { auth: { selectedType: auth } }) },
  };
}

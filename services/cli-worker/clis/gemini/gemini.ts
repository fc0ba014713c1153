import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { killOnAbort } from '../../process/kill-on-abort.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import type { Cli, CliSession, SessionStart } from '../cli.ts';
import { linkLogin } from '../link-login.ts';
import { hasKey, logins } from '../logins.ts';
import { geminiSettings } from './gemini-settings.ts';
import { GeminiSession } from './gemini-session.ts';

/** Its keys and addresses. Without a key it goes by the login that is kept in its own folder. */
const allowed = [
  ...logins.gemini.keys,
  'GOOGLE_GEMINI_BASE_URL',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_CLOUD_LOCATION',
];

/** Gemini CLI, driven over the Agent Client Protocol. Each conversation is a session of its own. */
export const gemini: Cli = {
  kind: 'gemini',
  capabilities: ['stream', 'thinking'],
  singleUse: false,
  start: startGemini,
};

async function startGemini({ starter, workspace, models, signal }: SessionStart): Promise<CliSession> {
  const home = join(workspace.home, '.gemini');
  const systemFile = join(workspace.home, 'system.md');
  const keyed = hasKey(logins.gemini, starter.variable);
  if (keyed) await mkdir(home);
  else await linkLogin(logins.gemini, starter.variable, home);
  await writeFile(join(home, 'settings.json'), JSON.stringify(geminiSettings(authOf(starter, keyed))));
  // It looks for the file when it starts; what is in it is read for each session.
  await writeFile(systemFile, '', { mode: 0o600 });
  const process = starter.start({
    args: ['--acp', '--model', models[0]],
    workspace,
    allowed,
    set: { GEMINI_SYSTEM_MD: systemFile, GEMINI_CLI_NO_RELAUNCH: 'true', NO_COLOR: '1' },
  });
  const session = new GeminiSession(process, { systemFile, cwd: workspace.cwd, startModel: models[0] });
  await killOnAbort(process, signal, () => session.ready());
  return session;
}

/** Its word for how it signs in; undefined leaves the choice to it, as it must be where an address other than Google's is set. */
function authOf({ variable }: ProcessStarter, keyed: boolean): string | undefined {
  if (!keyed) return 'oauth-personal';
  return variable('GOOGLE_GEMINI_BASE_URL') === undefined ? 'gemini-api-key' : undefined;
}

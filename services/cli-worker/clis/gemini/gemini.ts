import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '#shared/core/json.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import type { AnswerPart, Cli, StartOptions } from '../cli.ts';
import { hasKey, linkLogin, logins } from '../logins.ts';
import { ToolListServer } from '../tool-list-server.ts';
import { createItemsDialogue } from '../items-dialogue.ts';
import { readGeminiRequest, toolPrefix, type GeminiRequest } from './gemini-request.ts';
import { GeminiSession } from './gemini-session.ts';
import { probeGemini } from './probe-gemini.ts';

/** Variables with keys and addresses. Without a key, Gemini CLI uses the login in its own folder. */
const allowedVariables = [
  ...logins.gemini.keyVariables,
  'GOOGLE_GEMINI_BASE_URL',
  'GOOGLE_GENAI_USE_VERTEXAI',
  'GOOGLE_CLOUD_PROJECT',
  'GOOGLE_CLOUD_LOCATION',
];

/** The dialogue with Gemini CLI, which reads turns with the parts of Google's API. It forwards PDFs, but not the schema of an answer. */
const geminiDialogue = createItemsDialogue(readGeminiRequest, { takesFiles: true, takesSchemas: false });

/** Gemini CLI, driven over the Agent Client Protocol. Each conversation has a session of its own. */
export const gemini: Cli<GeminiRequest, AnswerPart> = {
  kind: 'gemini',
  traceName: 'gcp.gemini',
  capabilities: ['stream', 'thinking'],
  dialogue: geminiDialogue,
  isSingleUse: false,
  start: (options) => startGemini(options),
  probe: (options) => probeGemini((url) => startGemini(options, url), options),
};

/** @param probeUrl address of an upstream inside the worker, which replaces the operator's upstream */
async function startGemini(
  { starter, workspace, models, signal }: StartOptions,
  probeUrl?: string,
): Promise<GeminiSession> {
  const home = join(workspace.home, '.gemini');
  const systemFile = join(workspace.home, 'system.md');
  const hasApiKey = probeUrl !== undefined || hasKey(logins.gemini, starter.readVariable);
  if (hasApiKey) await mkdir(home);
  else await linkLogin(logins.gemini, starter.readVariable, home);
  await writeFile(
    join(home, 'settings.json'),
    JSON.stringify(createSettings(probeUrl === undefined ? chooseSignIn(starter, hasApiKey) : undefined)),
  );
  // The file must exist when Gemini CLI starts, although its text is read for each session.
  await writeFile(systemFile, '', { mode: 0o600 });
  const process = starter.start({
    args: ['--acp', '--model', models[0]],
    workspace,
    allowedVariables,
    variables: {
      GEMINI_SYSTEM_MD: systemFile,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      NO_COLOR: '1',
      ...(probeUrl !== undefined && {
        GOOGLE_GEMINI_BASE_URL: probeUrl,
        GEMINI_API_KEY: 'probe',
        GOOGLE_GENAI_USE_VERTEXAI: '',
      }),
    },
  });
  return process.killOnFailure(signal, async () => {
    const tools = await ToolListServer.open();
    void process.whenEnded.then(() => tools.close());
    const session = new GeminiSession(process, { systemFile, home, cwd: workspace.cwd, startModel: models[0], tools });
    await session.initialize();
    return session;
  });
}

/**
 * Returns Gemini CLI's name of the sign-in method. Undefined leaves the choice to Gemini CLI, which is necessary for an address other than
 * Google's.
 */
function chooseSignIn({ readVariable }: ProcessStarter, hasApiKey: boolean): string | undefined {
  if (!hasApiKey) return 'oauth-personal';
  return readVariable('GOOGLE_GEMINI_BASE_URL') === undefined ? 'gemini-api-key' : undefined;
}

/**
 * Settings that leave Gemini CLI only the model. It gets no tools of its own and no context files, and sends no telemetry. It tries once,
 * because the router moves a failed request to another worker. The client's tools are offered to the model, but Gemini CLI does not call
 * them. A call would need another turn, and Gemini CLI is limited to one.
 * @param auth Gemini CLI's name of the sign-in method
 */
function createSettings(auth: string | undefined): JsonObject {
  return {
    general: { maxAttempts: 1, disableAutoUpdate: true, enableAutoUpdate: false, checkpointing: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    model: { maxSessionTurns: 1, compressionThreshold: 1, disableLoopDetection: true, skipNextSpeakerCheck: true },
    tools: { core: [`${toolPrefix}*`] },
    skills: { enabled: false },
    experimental: { enableAgents: false, toolOutputMasking: { enabled: false } },
    context: { fileName: 'none.md', includeDirectoryTree: false, discoveryMaxDirs: 0 },
    security: { folderTrust: { enabled: false }, ...(auth !== undefined && { auth: { selectedType: auth } }) },
  };
}

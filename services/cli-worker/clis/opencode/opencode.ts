import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { createLineReader } from '../../process/line-reader.ts';
import type { AnswerPart, Cli, StartOptions } from '../cli.ts';
import { createItemsDialogue } from '../items-dialogue.ts';
import { linkLogin, logins } from '../logins.ts';
import { ToolListServer } from '../tool-list-server.ts';
import { avoidPackageInstall, ModelOnlyPlugin } from './model-only-plugin.ts';
import { createOpencodeConfig } from './opencode-config.ts';
import { OpencodeHttp } from './opencode-http.ts';
import { readOpencodeRequest, type OpencodeRequest } from './opencode-request.ts';
import { OpencodeSession } from './opencode-session.ts';
import { warmUpOpencode } from './warm-up-opencode.ts';
import { startWarmUpUpstream } from './warm-up-upstream.ts';

/**
 * Creates the driver of opencode over its HTTP server for one worker. Each conversation has a session of its own that is deleted
 * afterwards. The first process that becomes ready determines what the installed version supports.
 */
export function createOpencodeCli(): Cli<OpencodeRequest, AnswerPart> {
  const capabilities = Promise.withResolvers<Capability[]>();
  const modelTraits: Partial<ModelTraits> = {};
  return {
    kind: 'opencode',
    traceName: 'opencode',
    capabilities: ['stream', 'thinking'],
    dialogue: createItemsDialogue(readOpencodeRequest, modelTraits),
    isSingleUse: false,
    start: async (options) => {
      const { session, takesTools, models } = await startOpencode(options);
      // opencode leaves files out of a request to a model that does not read them.
      modelTraits.takesFiles = models.every((model) => acceptsInput(model, 'pdf'));
      const vision = models.every((model) => acceptsInput(model, 'image'));
      capabilities.resolve([
        ...(takesTools ? (['tools', 'json'] as const) : []),
        ...(vision ? (['vision'] as const) : []),
      ]);
      return session;
    },
    probe: ({ signal }) => Promise.race([capabilities.promise, rejectOnAbort(signal)]),
  };
}

interface StartedOpencode {
  session: OpencodeSession;
  takesTools: boolean;
  /** Opencode's descriptions of the models; undefined for a model that opencode does not have. */
  models: (JsonObject | undefined)[];
}

async function startOpencode({ starter, workspace, models, signal }: StartOptions): Promise<StartedOpencode> {
  const password = randomBytes(24).toString('base64url');
  const dataFolder = join(workspace.home, '.local', 'share');
  const settingsFolder = join(workspace.home, '.config');
  await linkLogin(logins.opencode, starter.readVariable, join(dataFolder, 'opencode'));
  await avoidPackageInstall(join(settingsFolder, 'opencode'));
  const plugin = await ModelOnlyPlugin.write(workspace.home);
  const warmUp = await startWarmUpUpstream();
  try {
    const process = starter.start({
      args: ['serve', '--hostname', '127.0.0.1', '--port', '0'],
      workspace,
      allowedVariables: logins.opencode.keyVariables,
      variables: {
        // The password is needed because every user of this machine can reach the server's port.
        OPENCODE_SERVER_PASSWORD: password,
        OPENCODE_CONFIG_CONTENT: JSON.stringify(
          createOpencodeConfig(starter.readVariable('OPENCODE_CONFIG_CONTENT'), warmUp.url, plugin.url),
        ),
        // A database in memory never puts conversations on the disk, and no request waits for the disk.
        OPENCODE_DB: ':memory:',
        OPENCODE_DISABLE_PROJECT_CONFIG: '1',
        OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
        OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_CLAUDE_CODE: '1',
        XDG_DATA_HOME: dataFolder,
        XDG_CONFIG_HOME: settingsFolder,
        XDG_CACHE_HOME: join(workspace.home, '.cache'),
        XDG_STATE_HOME: join(workspace.home, '.state'),
      },
    });
    return await process.killOnFailure(signal, async () => {
      const toolList = await ToolListServer.open();
      void process.whenEnded.then(() => toolList.close());
      const http = new OpencodeHttp(await readAddress(process), password);
      const session = new OpencodeSession({ process, http, plugin, toolList, folder: workspace.cwd });
      await session.followEvents();
      const { takesTools } = await warmUpOpencode(session, warmUp, signal);
      return { session, takesTools, models: await Promise.all(models.map((model) => session.describeModel(model))) };
    });
  } finally {
    warmUp.close();
  }
}

async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

/** @param kind kind of input */
function acceptsInput(model: JsonObject | undefined, kind: 'image' | 'pdf'): boolean {
  const { capabilities } = model ?? {};
  const input = isJsonObject(capabilities) ? capabilities['input'] : undefined;
  return isJsonObject(input) && input[kind] === true;
}

/** Returns the address that the process prints when it begins to listen. */
async function readAddress(process: CliProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  process.onOutput = createLineReader((line) => {
    const address = /listening on (http:\S+)/.exec(line)?.[1];
    if (address !== undefined) resolve(address);
  });
  const ended = process.whenEnded.then(async () => {
    throw await process.waitForFailure();
  });
  const address = await Promise.race([promise, ended]);
  if (!URL.canParse(address)) throw new RouterError('upstream_failed', 'The CLI did not say where it listens.');
  return address;
}

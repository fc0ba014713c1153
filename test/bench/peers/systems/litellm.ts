import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { modelsOf } from '../upstream/scenarios.ts';
import { installOnce } from '../../../helpers/processes/install-once.ts';
import { Program } from './program.ts';
import { headersOf, hungAfterMs, paths, type StartOptions, type SystemKind } from './system.ts';

const version = '1.108.7';
const key = 'sk-bench';
let home = '';

const startSeconds = 480;

/** Data that LiteLLM would otherwise fetch from the internet. */
const local = ['MODEL_COST_MAP', 'ANTHROPIC_BETA_HEADERS', 'POLICY_TEMPLATES', 'AUTOROUTER_PRESETS', 'BLOG_POSTS'];

/** LiteLLM's proxy, a program in Python. */
export const litellm: SystemKind = {
  name: 'litellm',
  title: 'LiteLLM proxy',
  settings:
    'one worker process for each core, a master key, its production mode, a log of errors only, no telemetry, no callbacks, no database (so without keys of its own); of several upstreams one without a first byte for two seconds is left out for ten',
  socketsPerStream: 2,
  avoidsHungUpstreams: true,

  async install() {
    home = await installOnce(`peers/litellm-${version}`, [
      ['python3', '-m', 'venv', '.'],
      ['bin/python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `litellm[proxy]==${version}`],
    ]);
    return version;
  },

  async start(options) {
    const port = await findFreePort();
    mkdirSync(options.folder, { recursive: true });
    const file = join(options.folder, 'litellm.yaml');
    writeFileSync(file, JSON.stringify(configuration(options)));
    const flags = ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'];
    const workers = ['--num_workers', String(availableParallelism())];
    // The script itself names the folder in which it was installed, which has moved since.
    const script = [join(home, 'bin/litellm'), ...flags, ...workers];
    const program = new Program('litellm', join(home, 'bin/python'), script, {
      PATH: `${join(home, 'bin')}:${process.env['PATH']}`,
      LITELLM_LOG: 'ERROR',
      LITELLM_MODE: 'PRODUCTION',
      // Otherwise it uses OpenAI's Responses API for clients of the messages format.
      LITELLM_USE_CHAT_COMPLETIONS_URL_FOR_ANTHROPIC_MESSAGES: 'True',
      ...Object.fromEntries(local.map((name) => [`LITELLM_LOCAL_${name}`, 'True'])),
    });
    await program.untilAnswers(`http://127.0.0.1:${port}/health/liveliness`, startSeconds);
    return {
      target: async ({ client }, access) => {
        const target = { host: '127.0.0.1', port, path: paths[client], key, headers: headersOf(client) };
        return access === 'unlimited' ? target : undefined;
      },
      roots: () => [program.pid],
      stop: () => program.stop(),
    };
  },
};

function configuration({ upstreams }: StartOptions): object {
  const several = upstreams.length > 1;
  const avoid = several ? { timeout: hungAfterMs / 1000, stream_timeout: hungAfterMs / 1000 } : { timeout: 3_600 };
  const deployment = (model: string, provider: string, api_base: string): object => ({
    model_name: model,
    litellm_params: { model: `${provider}/${model}`, api_base, api_key: 'bench', ...avoid },
  });
  const deployments = upstreams.flatMap((port) => [
    ...modelsOf('chat').map((model) => deployment(model, 'openai', `http://127.0.0.1:${port}/v1`)),
    ...modelsOf('messages').map((model) => deployment(model, 'anthropic', `http://127.0.0.1:${port}`)),
  ]);
  return {
    model_list: deployments,
    litellm_settings: { telemetry: false, set_verbose: false, request_timeout: 3_600 },
    router_settings: several
      ? { num_retries: 2, allowed_fails: 0, cooldown_time: 10, routing_strategy: 'simple-shuffle' }
      : { num_retries: 0 },
    general_settings: { master_key: key, disable_spend_logs: true },
  };
}

import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { installOnce } from '../../../helpers/processes/install-once.ts';
import { Program } from './program.ts';
import { headersOf, hungAfterMs, paths, type Access, type Route, type SystemKind } from './system.ts';

const version = '1.15.2';
/** The gateway accepts any 1.x; with the newest its streams end without a byte. */
const serverVersion = '1.13.8';
let home = '';

const providers = { chat: 'openai', messages: 'anthropic' } as const;

/** Portkey's gateway, which is also a program in Node. */
export const portkey: SystemKind = {
  name: 'portkey',
  title: 'Portkey gateway',
  settings: `\`--headless\`, Node in production mode, one process (it has no other mode), \`@hono/node-server\` ${serverVersion}, no key to check; of several upstreams a balanced one is followed by the next after two seconds`,
  socketsPerStream: 2,
  avoidsHungUpstreams: true,

  async install() {
    const manifest = {
      private: true,
      dependencies: { '@portkey-ai/gateway': version, '@hono/node-server': serverVersion },
      overrides: { '@hono/node-server': serverVersion },
    };
    const files = { 'package.json': JSON.stringify(manifest) };
    const install = ['npm', 'install', '--no-fund', '--no-audit', '--ignore-scripts', '--save-exact'] as const;
    home = await installOnce(`peers/portkey-${version}`, [install], files);
    return version;
  },

  async start({ upstreams }) {
    const port = await findFreePort();
    const script = `${home}/node_modules/@portkey-ai/gateway/build/start-server.js`;
    const program = new Program('portkey', process.execPath, [script, `--port=${port}`, '--headless']);
    await program.untilAnswers(`http://127.0.0.1:${port}/`, 30);
    return {
      target: (route, access) => Promise.resolve(targetOf(port, route, access, upstreams)),
      roots: () => [program.pid],
      stop: () => program.stop(),
    };
  },
};

function targetOf(port: number, { client, upstream }: Route, access: Access, upstreams: readonly number[]) {
  if (access !== 'unlimited') return undefined;
  // It translates requests of the chat format. The messages format is only for providers that speak it.
  if (client === 'messages' && upstream !== 'messages') return undefined;
  const provider = providers[upstream];
  const hosts = upstreams.map((each) => `http://127.0.0.1:${each}/v1`);
  const routing =
    hosts.length > 1
      ? [`x-portkey-config: ${JSON.stringify(balanced(provider, hosts))}`]
      : [`x-portkey-provider: ${provider}`, `x-portkey-custom-host: ${hosts[0]}`];
  return { host: '127.0.0.1', port, path: paths[client], key: 'bench', headers: [...headersOf(client), ...routing] };
}

/** Returns a configuration that uses every upstream in turn, each with the next one as its fallback. */
function balanced(provider: string, hosts: readonly string[]): object {
  const common = { provider, api_key: 'bench', request_timeout: hungAfterMs };
  const one = (at: number): object => ({ ...common, custom_host: hosts[at % hosts.length] });
  return {
    strategy: { mode: 'loadbalance' },
    targets: hosts.map((_, at) => ({
      weight: 1,
      strategy: { mode: 'fallback', on_status_codes: [408] },
      targets: [one(at), one(at + 1)],
    })),
  };
}
